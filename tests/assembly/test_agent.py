"""Tests of how an agent lives."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from windtunnel.assembly import agent, components
from windtunnel.errors import ClusterError
from windtunnel.kernel import Loop, WallClock


class Part:
    """Starts by calling whatever it was made with."""

    def __init__(self, begin: Callable[[], None]) -> None:
        self.begin = begin
        self.stopped = 0

    def start(self) -> None:
        self.begin()

    def stop(self) -> None:
        self.stopped += 1


def test_steps_are_played_until_it_is_told_to_end() -> None:
    loop = Loop(WallClock())
    drive = agent.BlockingDrive(loop)
    played: list[int] = []
    loop.call_soon(lambda: played.append(1))
    loop.call_after(0.01, lambda: (played.append(2), drive.end()))  # type: ignore[func-returns-value]

    drive.run()

    assert played == [1, 2]


def test_another_thread_wakes_it() -> None:
    loop = Loop(WallClock())
    drive = agent.BlockingDrive(loop)
    threading.Timer(0.01, lambda: loop.post(drive.end)).start()

    drive.run()


def test_a_lost_server_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent, "_FIRST_PAUSE_SECONDS", 0.001)
    drive = agent.BlockingDrive(Loop(WallClock()))
    outcomes: list[Exception | str] = [ClusterError("away"), ClusterError("still"), "here"]
    lost: list[str] = []

    def call() -> str:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    assert drive.patiently(call, lambda error: lost.append(str(error))) == "here"
    assert lost == ["away", "still"]


PROGRAM = """
import sys
from windtunnel.assembly import agent, components

class Part:
    def __init__(self, berth): self.berth = berth
    def start(self): self.berth.loop.call_soon({step})
    def stop(self): print("stopped", flush=True)

components.AGENTS["it"] = Part
sys.exit(agent.run("it", []))
"""


def started(step: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(step=step)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(number: signal.Signals) -> None:
    with started("lambda: print('playing', flush=True)") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "playing\n"
        process.send_signal(number)
        out, _ = process.communicate(timeout=10)

    assert (process.returncode, out) == (0, "stopped\n")


def test_a_part_that_fails_ends_the_process_with_a_sentence() -> None:
    with started("lambda: 1 / 0") as process:
        out, err = process.communicate(timeout=10)

    assert (process.returncode, out) == (1, "stopped\n")
    last = err.splitlines()[-1]
    assert last == "windtunnel agent it: ends, for it failed: ZeroDivisionError: division by zero"


def test_a_part_that_cannot_begin_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def begin() -> None:
        raise FileNotFoundError(2, "No such file or directory", "/x/key")

    part = Part(begin)
    monkeypatch.setitem(components.AGENTS, "it", lambda _: part)

    assert agent.run("it", [], {}) == agent.FAILED
    assert part.stopped == 1
    assert capsys.readouterr().err == (
        "windtunnel agent it: cannot begin: No such file or directory: /x/key\n"
    )


def test_an_unknown_agent_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert agent.run("nobody", [], {}) == 2
    assert "there is no agent nobody" in capsys.readouterr().err


def test_an_agent_without_a_command_line_refuses_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert agent.run("device-plugin", ["extra"], {}) == 2
    assert "it takes no arguments such as 'extra'" in capsys.readouterr().err

    assert agent.run("device-plugin", ["--help"], {}) == 0
    assert "settings are environment variables" in capsys.readouterr().out


def test_an_agent_pays_for_nothing_of_the_server_or_the_command_line() -> None:
    code = (
        "import sys; import windtunnel.assembly.agent, windtunnel.assembly.components;"
        "heavy = 'click rich numpy uvicorn uvloop asyncio cryptography grpc'.split();"
        "print([name for name in heavy if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"

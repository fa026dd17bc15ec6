"""The node's process: started again when it dies, ended with the cluster."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from windtunnel.assembly.node_process import NodeProcess
from windtunnel.home import birth
from windtunnel.kernel import Loop, WallClock
from windtunnel.telemetry import Log

ENDLESS = "import signal; print('here', flush=True); signal.pause()"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {ENDLESS}"


class Bench:
    """A loop that is played by hand, and what the part logs."""

    def __init__(self, output: Path) -> None:
        self.lines: list[str] = []
        self.output = output
        self.loop = Loop(WallClock())
        self.parts: list[NodeProcess] = []

    def node(self, program: str) -> NodeProcess:
        log = Log(self.lines.append, lambda: "now")
        command = [sys.executable, "-c", program]
        self.parts.append(NodeProcess(command, dict(os.environ), self.output, self.loop, log))
        self.parts[-1].start()
        return self.parts[-1]

    def until(self, true: Callable[[], bool]) -> None:
        end = time.monotonic() + 20
        while not true():
            assert time.monotonic() < end, self.lines
            self.loop.run_due()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path / "node.log")
    yield bench
    for part in bench.parts:
        part.stop()


def test_what_it_says_is_kept(bench: Bench) -> None:
    node = bench.node(ENDLESS)

    bench.until(lambda: bench.output.exists() and b"here" in bench.output.read_bytes())

    assert birth(node.pid)


def test_a_process_that_is_killed_is_started_again(bench: Bench) -> None:
    node = bench.node(ENDLESS)
    bench.until(lambda: node.pid != 0)
    first = node.pid
    os.kill(first, 9)

    bench.until(lambda: node.pid not in (0, first))

    assert any("was killed by signal 9" in line for line in bench.lines)


def test_it_ends_with_the_cluster(bench: Bench) -> None:
    node = bench.node(ENDLESS)
    bench.until(lambda: node.pid != 0)
    pid = node.pid

    node.stop()

    assert not birth(pid)


def test_one_that_will_not_end_is_killed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windtunnel.assembly.node_process._PATIENCE_SECONDS", 0.1)
    node = bench.node(STUBBORN)
    bench.until(lambda: bench.output.exists() and b"here" in bench.output.read_bytes())
    pid = node.pid

    node.stop()

    assert not birth(pid)


def test_a_program_that_is_not_there_is_tried_again(bench: Bench, tmp_path: Path) -> None:
    log = Log(bench.lines.append, lambda: "now")
    node = NodeProcess([str(tmp_path / "none")], {}, bench.output, bench.loop, log)
    bench.parts.append(node)
    node.start()

    bench.until(lambda: any("cannot be started" in line for line in bench.lines))

    assert node.pid == 0

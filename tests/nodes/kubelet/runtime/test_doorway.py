"""Programs that enter running containers, and who attaches to their first process."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.nodes.kubelet.runtime.containers import ended, heard, make_order, said, up

from windtunnel.nodes.kubelet.runtime.engine import ContainerEngine
from windtunnel.nodes.kubelet.runtime.protocol import (
    Ended,
    ExecFailed,
    ExecTimedOut,
)


def test_exec_runs_beside_the_first_process(engine: ContainerEngine, log_path: Path) -> None:
    container_id = up(engine, log_path)

    ended = engine.exec_sync(container_id, ["sh", "-c", "echo o; echo e >&2; exit 3"], 20)
    assert ended == Ended(3, b"o\n", b"e\n")
    assert engine.exec_sync(container_id, ["sh", "-c", "kill -9 $$"], 20) == Ended(137)
    with pytest.raises(ExecTimedOut, match=r'^command timed out: "sleep 20" timed out after 1s$'):
        engine.exec_sync(container_id, ["sleep", "20"], 1)
    with pytest.raises(ExecFailed, match=r'exec: "nosuch": executable file not found in \$PATH: u'):
        engine.exec_sync(container_id, ["nosuch"], 1)
    engine.remove(container_id)
    with pytest.raises(ExecFailed, match="not found"):
        engine.exec_sync(container_id, ["true"], 1)


def test_exec_ends_its_input_and_tells_its_code(engine: ContainerEngine, log_path: Path) -> None:
    container_id = up(engine, log_path)
    run = engine.exec(container_id, ["sh", "-c", "cat; exit 5"], stdin=True)
    assert run.stdin is not None
    run.stdin.write(b"hello\n")
    run.stdin.close()

    assert run.stdout.read() == b"hello\n"
    assert run.wait() == 5
    run.close()
    engine.remove(container_id)


def test_exec_on_a_terminal_that_is_resized(private: ContainerEngine, log_path: Path) -> None:
    container_id = up(private, log_path)
    run = private.exec(
        container_id, ["sh", "-c", "read x; stty size; exit 9"], tty=True, stdin=True
    )
    run.resize(100, 40)
    assert run.stdin is not None
    run.stdin.write(b"go\n")
    seen = heard(run)

    assert seen == b"go\r\n40 100\r\n"
    assert run.stderr is None
    assert run.wait() == 9
    run.close()
    private.remove(container_id)


def test_an_interactive_shell_is_master_of_its_terminal(
    private: ContainerEngine, log_path: Path
) -> None:
    container_id = up(private, log_path)
    run = private.exec(container_id, ["sh", "-i"], tty=True, stdin=True)
    assert run.stdin is not None
    run.stdin.write(b"exit 4\n")
    seen = heard(run)

    assert run.wait() == 4
    assert b"job control" not in seen
    assert b"process group" not in seen
    run.close()
    private.remove(container_id)


@pytest.mark.parametrize("user", [None, 1000])
def test_a_terminal_has_a_name_in_the_container(
    private: ContainerEngine, log_path: Path, user: int | None
) -> None:
    container_id = up(private, log_path, user=user)
    run = private.exec(container_id, ["sh", "-c", "tty && echo there > $(tty)"], tty=True)
    seen = heard(run)

    assert re.fullmatch(rb"/dev/pts/\d+\r\nthere\r\n", seen)
    assert run.wait() == 0
    run.close()
    private.remove(container_id)


@pytest.mark.parametrize("user", [None, 1000])
def test_the_first_process_has_a_terminal_of_its_own(
    private: ContainerEngine, log_path: Path, user: int | None
) -> None:
    script = "tty && echo there > $(tty); read x; stty size; echo $x"
    container_id = private.create(
        make_order(log_path, "sh", "-c", script, tty=True, stdin=True, user=user)
    )
    private.start(container_id)
    attached = private.attach(container_id)
    attached.resize(100, 40)
    assert attached.stdin is not None
    attached.stdin.write(b"go\n")

    assert attached.wait() == 0
    lines = [line.strip() for line in said(log_path).splitlines()]
    assert [line for line in lines if not line.startswith("/dev/pts/")] in (
        ["go", "there", "40 100", "go"],
        ["there", "go", "40 100", "go"],
    )
    assert len(lines) == 5
    attached.resize(1, 1)
    attached.close()
    private.remove(container_id)


def test_what_is_said_at_once_on_a_terminal_is_in_the_log(
    private: ContainerEngine, log_path: Path
) -> None:
    assert ended(private, log_path, "echo", "quick", tty=True).exit_code == 0
    assert said(log_path).rstrip() == "quick"


def test_a_killed_terminal_exec_ends(private: ContainerEngine, log_path: Path) -> None:
    container_id = up(private, log_path)
    run = private.exec(container_id, ["sleep", "60"], tty=True)
    run.kill()
    heard(run)

    assert run.wait() == 137
    run.close()
    private.remove(container_id)


def test_a_killed_exec_leaves_the_container(engine: ContainerEngine, log_path: Path) -> None:
    container_id = up(engine, log_path)
    run = engine.exec(container_id, ["sleep", "60"])
    run.kill()

    assert run.stdout.read() == b""
    assert run.wait() == 137
    run.close()
    assert engine.exec_sync(container_id, ["echo", "here"], 20) == Ended(0, b"here\n")
    engine.remove(container_id)


def test_attach_speaks_with_the_first_process(engine: ContainerEngine, log_path: Path) -> None:
    container_id = engine.create(make_order(log_path, "cat", stdin=True, stdin_once=True))
    engine.start(container_id)
    attached = engine.attach(container_id)
    assert attached.stdin is not None
    attached.stdin.write(b"hello\n")
    attached.stdin.close()

    assert attached.stdout.read() == b"hello\n"
    assert attached.wait() == 0
    assert said(log_path) == "hello"
    attached.close()
    with pytest.raises(ExecFailed, match="CONTAINER_EXITED"):
        engine.attach(container_id)
    engine.remove(container_id)

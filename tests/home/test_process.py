"""A process is known by id and birth: neither a dead one nor a namesake passes for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from windtunnel.home.process import Process, birth


def process(pid: int, started: str) -> Process:
    return Process(pid=pid, started=started, url="https://x", kubeconfig="k", data="")


def test_this_process_is_alive_and_a_recycled_id_is_not() -> None:
    assert process(os.getpid(), birth(os.getpid())).alive
    assert not process(os.getpid(), "another boot:1").alive


def test_a_process_that_has_ended_is_not_alive_even_before_it_is_collected() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    known = process(child.pid, birth(child.pid))
    assert known.alive

    assert child.stdin is not None
    child.stdin.close()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not known.alive

    child.wait()
    assert not known.alive


def test_a_process_is_asked_to_end_and_a_namesake_is_left_alone() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)

    assert process(child.pid, "another boot:1").end()
    assert child.poll() is None

    assert process(child.pid, birth(child.pid)).end()
    assert child.wait() == -signal.SIGTERM
    assert child.stdin is not None
    child.stdin.close()

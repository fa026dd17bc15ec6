"""What is done outside the loop, and how it comes back."""

from __future__ import annotations

import threading

from windtunnel.kernel import Loop, VirtualClock, WallClock
from windtunnel.nodes.kubelet.outside import Outside


def play(loop: Loop, done: threading.Event) -> None:
    posted = threading.Event()
    loop.wake = posted.set
    while not done.is_set():
        posted.wait(1)
        posted.clear()
        loop.run_due()


def test_a_result_comes_back_as_a_step() -> None:
    loop, got, done = Loop(WallClock()), [], threading.Event()
    outside = Outside(loop)

    def then(outcome: int | Exception) -> None:
        got.append((outcome, threading.current_thread() is threading.main_thread()))
        done.set()

    outside.call(lambda: 7, then)
    play(loop, done)

    assert got == [(7, True)]


def test_an_exception_is_handed_over_as_a_value() -> None:
    loop, got = Loop(VirtualClock()), []
    failure = OSError("no")

    def work() -> None:
        raise failure

    Outside(loop, threads=0).call(work, got.append)
    loop.run_virtual()

    assert got == [failure]


def test_a_failure_that_nobody_waits_for_is_reported() -> None:
    reports: list[Exception] = []
    loop = Loop(VirtualClock(), lambda who, key, error: reports.append(error))

    def work() -> None:
        raise OSError("lost")

    Outside(loop, threads=0).call(work)
    loop.run_virtual()

    assert [str(each) for each in reports] == ["lost"]


def test_calls_that_hang_do_not_hold_up_others() -> None:
    loop, done, gate = Loop(WallClock()), threading.Event(), threading.Event()
    outside = Outside(loop)
    for _ in range(8):
        outside.call(gate.wait)

    outside.call(lambda: None, lambda outcome: done.set())
    play(loop, done)
    gate.set()

    assert done.is_set()


def test_work_beyond_the_limit_waits_its_turn() -> None:
    loop, done, seen = Loop(WallClock()), threading.Event(), []
    outside = Outside(loop, threads=2)

    def then(outcome: int | Exception) -> None:
        seen.append(outcome)
        if len(seen) == 20:
            done.set()

    for number in range(20):
        outside.call(lambda number=number: number, then)
    play(loop, done)

    assert sorted(seen) == list(range(20))

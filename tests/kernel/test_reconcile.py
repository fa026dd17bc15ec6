"""A worker visits keys one a step, retries failures and parks what must ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from windtunnel.errors import BrokenInvariant
from windtunnel.kernel import DONE, Loop, Parked, Result, VirtualClock, Worker


class Scripted:
    """Plays outcomes from a list: a result is returned, an exception raised."""

    name = "scripted"

    def __init__(self, *outcomes: Result | Exception) -> None:
        self.outcomes, self.visits = list(outcomes), []

    def reconcile(self, key: Any) -> Result:
        self.visits.append(key)
        outcome = self.outcomes.pop(0) if self.outcomes else DONE
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def played(reconciler: Scripted) -> tuple[Loop, Worker, list[str]]:
    reports: list[str] = []
    loop = Loop(VirtualClock(), lambda name, key, error: reports.append(f"{name} {error}"))
    worker = Worker(loop, reconciler)
    return loop, worker, reports


def test_every_key_is_visited() -> None:
    reconciler = Scripted()
    loop, worker, _ = played(reconciler)
    for key in ("a", "b", "c"):
        worker.queue.add(key)

    loop.run_virtual()

    assert reconciler.visits == ["a", "b", "c"]


def test_a_visit_that_asks_for_later_comes_back_then() -> None:
    reconciler = Scripted(Result(again_in=7))
    loop, worker, _ = played(reconciler)
    worker.queue.add("a")

    loop.run_virtual()

    assert reconciler.visits == ["a", "a"]
    assert loop.clock.now() == 7


def test_a_failure_is_reported_and_tried_again() -> None:
    reconciler = Scripted(ValueError("broken"), ValueError("broken"))
    loop, worker, reports = played(reconciler)
    worker.queue.add("a")

    loop.run_virtual()

    assert reports == ["scripted broken", "scripted broken"]
    assert len(reconciler.visits) == 3
    assert worker.queue.failures("a") == 0


def test_a_parked_key_comes_back_when_the_answer_is_there() -> None:
    resumes: list[Callable[[], None]] = []
    reconciler = Scripted(Parked(resumes.append))
    loop, worker, reports = played(reconciler)
    worker.queue.add("a")
    loop.run_virtual()
    assert reconciler.visits == ["a"]

    resumes[0]()
    loop.run_virtual()

    assert (reconciler.visits, reports) == (["a", "a"], [])


def test_a_broken_invariant_stops_the_run() -> None:
    loop, worker, _ = played(Scripted(BrokenInvariant("a bug")))
    worker.queue.add("a")

    with pytest.raises(BrokenInvariant):
        loop.run_virtual()

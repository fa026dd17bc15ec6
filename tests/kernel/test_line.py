"""A line does its work some a step, and nothing but a bug gets past it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from windtunnel.errors import BrokenInvariant
from windtunnel.kernel import DONE, Line, Loop, Parked, Result, Settled, VirtualClock


class Workshop:
    """Does work on a line; outcomes are scripted by key, then all is done."""

    def __init__(self, at_once: int = 1, **outcomes: Settled) -> None:
        self.outcomes = outcomes
        self.visits: list[list[str]] = []
        self.reports: list[str] = []
        self.loop = Loop(VirtualClock(), lambda name, key, error: self.reports.append(key))
        self.line: Line[str] = Line(self.loop, "workshop", self.work, at_once=at_once)

    def work(self, keys: Sequence[str]) -> list[Settled]:
        self.visits.append(list(keys))
        return [self.outcomes.pop(key, DONE) for key in keys]

    def run(self, *keys: str) -> list[list[str]]:
        for key in keys:
            self.line.add(key)
        self.loop.run_virtual()
        return self.visits


def test_keys_are_worked_on_some_a_step_each_once() -> None:
    assert Workshop(2).run("a", "b", "a", "c") == [["a", "b"], ["c"]]


def test_only_what_failed_is_tried_again_and_reported() -> None:
    shop = Workshop(2, b=OSError("the line is dead"))

    assert shop.run("a", "b") == [["a", "b"], ["b"]]
    assert (shop.reports, shop.loop.clock.now()) == (["b"], 0.5)


def test_what_comes_back_later_comes_back_later() -> None:
    shop = Workshop(2, a=Result(again_in=3))

    assert shop.run("a", "b") == [["a", "b"], ["a"]]
    assert (shop.reports, shop.loop.clock.now()) == ([], 3)


def test_parked_work_is_taken_up_when_the_answer_is_there() -> None:
    resumes: list[Callable[[], None]] = []
    shop = Workshop(a=Parked(resumes.append))
    assert shop.run("a") == [["a"]]

    resumes[0]()

    assert shop.run() == [["a"], ["a"]]
    assert shop.reports == []


@pytest.mark.parametrize("error", [ValueError("odd"), OSError("lost")])
def test_an_error_in_a_step_is_the_outcome_of_all_its_keys(error: Exception) -> None:
    loop = Loop(VirtualClock())
    errors: list[Exception] = [error]
    done: list[str] = []

    def work(keys: Sequence[str]) -> list[Settled]:
        if errors:
            raise errors.pop()
        done.extend(keys)
        return [DONE] * len(keys)

    line: Line[str] = Line(loop, "test", work, at_once=2)
    line.add("a")
    line.add("b")
    loop.run_virtual()

    assert sorted(done) == ["a", "b"]


def test_a_broken_invariant_ends_the_run() -> None:
    def work(keys: Sequence[str]) -> list[Settled]:
        raise BrokenInvariant("a bug")

    loop = Loop(VirtualClock())
    line: Line[str] = Line(loop, "test", work)
    line.add("a")
    with pytest.raises(BrokenInvariant):
        loop.run_virtual()


def test_a_dropped_key_does_not_come_back() -> None:
    shop = Workshop(a=OSError("lost"))
    shop.line.add("a")
    shop.loop.run_due()
    shop.line.drop("a")

    assert shop.run() == [["a"]]

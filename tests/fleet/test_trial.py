"""Trials: steps are played from the end, down to where the level began."""

from __future__ import annotations

from windtunnel.fleet.trial import Trials


def test_a_level_takes_back_only_its_own() -> None:
    trials, told = Trials(), list[str]()
    assert trials.steps is None

    outer = trials.begin()
    assert trials.steps is not None
    trials.steps.append(lambda: told.append("outer"))
    trials.nodes_kept = True
    inner = trials.begin()
    assert not trials.nodes_kept, "the inner level must keep its own nodes"
    trials.steps.append(lambda: told.append("first"))
    trials.steps.append(lambda: told.append("second"))

    trials.end(inner)
    assert told == ["second", "first"]
    assert trials.nodes_kept
    trials.end(outer)
    assert told == ["second", "first", "outer"]
    assert trials.steps is None

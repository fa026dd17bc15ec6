"""Disruption budgets: whose eviction breaks one."""

from __future__ import annotations

from typing import Any

from tests.build import pod

from windtunnel.scheduler.budgets import Budget, read_budget, violating


def budget(allowed: int, selector: Any = None, name: str = "b", **status: Any) -> Budget:
    return read_budget(
        {
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": "x"}} if selector is None else selector},
            "status": {"disruptionsAllowed": allowed, **status},
        }
    )


PODS = [pod(name, labels={"app": "x"}) for name in "abc"]


def test_the_first_ones_use_what_is_allowed() -> None:
    assert violating(PODS, [budget(2)]) == [False, False, True]


def test_every_budget_that_covers_a_pod_is_used() -> None:
    assert violating(PODS, [budget(1), budget(3, name="c")]) == [False, True, True]


def test_pods_that_no_budget_means_never_break_one() -> None:
    others = [pod("d"), pod("e", labels={"app": "x"}, namespace="other")]

    assert violating(others, [budget(0)]) == [False, False]
    assert violating(PODS, [budget(0, selector={})]) == [False, False, False]


def test_a_disruption_that_is_counted_already_is_free() -> None:
    assert violating(PODS[:1], [budget(0, disruptedPods={"a": "now"})]) == [False]

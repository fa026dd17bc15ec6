from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from windtunnel.kinds.pod.evictions import Allowed, Refused, eviction_condition, judge
from windtunnel.machinery.tree import Tree

NOW = 1_767_225_600.0


def pod(*, ready: bool = True, phase: str = "Running") -> Tree:
    status = "True" if ready else "False"
    return {
        "metadata": {"name": "p", "labels": {"app": "web"}},
        "status": {"phase": phase, "conditions": [{"type": "Ready", "status": status}]},
    }


def budget(*, allowed: int = 0, seen: int = 1, policy: str = "", **status: Any) -> Tree:
    spec: Tree = {"selector": {"matchLabels": {"app": "web"}}}
    if policy:
        spec["unhealthyPodEvictionPolicy"] = policy
    return {
        "metadata": {"name": "b", "generation": 1},
        "spec": spec,
        "status": {"disruptionsAllowed": allowed, "observedGeneration": seen, **status},
    }


@dataclass
class Case:
    pod: Tree
    budgets: list[Tree]
    allowed: bool
    why: str = ""


CASES = {
    "no budget, no question": Case(pod(), [], True),
    "a budget of others does not count": Case(
        pod(), [{"spec": {"selector": {"matchLabels": {"app": "db"}}}}], True
    ),
    "room in the budget": Case(pod(), [budget(allowed=1)], True),
    "an exhausted budget": Case(
        pod(),
        [budget(desiredHealthy=2, currentHealthy=2)],
        False,
        "The disruption budget b needs 2 healthy pods and has 2 currently",
    ),
    "a budget that nobody has looked at yet": Case(
        pod(),
        [budget(allowed=5, seen=0)],
        False,
        "The disruption budget b is still being processed by the server.",
    ),
    "a pending pod disrupts nothing": Case(pod(phase="Pending"), [budget()], True),
    "an unready pod while enough are healthy": Case(
        pod(ready=False), [budget(desiredHealthy=1, currentHealthy=1)], True
    ),
    "an unready pod while too few are healthy": Case(
        pod(ready=False),
        [budget(desiredHealthy=2, currentHealthy=1)],
        False,
        "The disruption budget b needs 2 healthy pods and has 1 currently",
    ),
    "an unready pod that always may go": Case(
        pod(ready=False), [budget(policy="AlwaysAllow", desiredHealthy=2)], True
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_budget_decides(case: Case) -> None:
    verdict = judge(case.pod, case.budgets, NOW)

    assert isinstance(verdict, Allowed) is case.allowed
    if isinstance(verdict, Refused):
        assert verdict.error.code == 429
        assert verdict.error.to_status()["details"]["causes"][0]["message"] == case.why


def test_an_allowed_eviction_is_noted_in_the_budget() -> None:
    verdict = judge(pod(), [budget(allowed=1)], NOW)

    assert isinstance(verdict, Allowed)
    assert verdict.budget is not None
    status = verdict.budget["status"]
    assert status["disruptionsAllowed"] == 0
    assert status["disruptedPods"] == {"p": "2026-01-01T00:00:00Z"}
    assert status["conditions"][0]["reason"] == "InsufficientPods"


def test_two_budgets_are_one_too_many() -> None:
    verdict = judge(pod(), [budget(allowed=1), budget(allowed=1)], NOW)

    assert isinstance(verdict, Refused)
    assert "reason" not in verdict.error.to_status()
    assert verdict.error.code == 500


def test_a_budget_not_yet_observed_says_when_to_ask_again() -> None:
    verdict = judge(pod(), [budget(allowed=1, seen=0)], NOW)

    assert isinstance(verdict, Refused)
    assert verdict.error.retry_after_seconds == 10


def test_the_pod_is_told_why_it_goes() -> None:
    assert eviction_condition()["type"] == "DisruptionTarget"

"""What a budget allows, worked out from what it expects and what is there.

Source: disruption controller of Kubernetes v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from windtunnel.controllers.budget.views import BudgetSpec, BudgetStatus, BudgetView
from windtunnel.controllers.pods import seconds
from windtunnel.controllers.portions import portion
from windtunnel.controllers.views import Condition, PodView, find_condition
from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Tree

ALLOWED: Final = "DisruptionAllowed"
_PATIENCE_SECONDS: Final = 120.0
"""How long an evicted pod may take until its deletion is seen."""


@dataclass(frozen=True, slots=True)
class Expected:
    """How many pods there should be, and how many of them healthy."""

    pods: int
    healthy: int


def expect(spec: BudgetSpec, matching: int, wanted: int) -> Expected:
    """Say what a budget expects.

    Args:
        spec: The budget.
        matching: How many pods it selects.
        wanted: How many pods their owners want together.
    """
    if spec.max_unavailable is not None:
        return Expected(wanted, max(wanted - portion(spec.max_unavailable, wanted, up=True), 0))
    if isinstance(spec.min_available, int):
        return Expected(matching, spec.min_available)
    return Expected(wanted, portion(spec.min_available, wanted, up=True))


def needs_owners(spec: BudgetSpec) -> bool:
    """Whether the owners' wanted numbers matter."""
    return spec.max_unavailable is not None or not isinstance(spec.min_available, int)


def still_disrupted(
    pods: Sequence[PodView], noted: Mapping[str, str], now: float
) -> tuple[dict[str, str], list[PodView], float | None]:
    """Sort the evictions a budget has noted.

    Returns:
        Those whose pod may still go, the pods that did not go in time, and when to look again.
    """
    kept: dict[str, str] = {}
    overdue = []
    waits = []
    for pod in pods:
        since = seconds(noted.get(pod.metadata.name))
        if since is None or pod.metadata.deleting:
            continue
        left = since + _PATIENCE_SECONDS - now
        if left <= 0:
            overdue.append(pod)
        else:
            kept[pod.metadata.name] = noted[pod.metadata.name]
            waits.append(left)
    return kept, overdue, min(waits, default=None)


def decide(
    budget: BudgetView, expected: Expected, healthy: int, disrupted: dict[str, str], now: float
) -> BudgetStatus:
    """Return the status of a budget."""
    allowed = max(healthy - expected.healthy, 0) if expected.pods > 0 else 0
    generation = budget.metadata.generation
    status, reason = ("True", "SufficientPods") if allowed else ("False", "InsufficientPods")
    return BudgetStatus(
        observed_generation=generation,
        disrupted_pods=disrupted,
        disruptions_allowed=allowed,
        current_healthy=healthy,
        desired_healthy=expected.healthy,
        expected_pods=expected.pods,
        conditions=with_condition(budget, status, reason, "", generation, now),
    )


def with_condition(
    budget: BudgetView,
    status: str,
    reason: str,
    message: str,
    generation: int | None,
    now: float,
) -> tuple[Condition, ...]:
    """Return the conditions of a budget with DisruptionAllowed as it is now."""
    old = find_condition(budget.status.conditions, ALLOWED)
    since = time_text(now)
    if old is not None and old.status == status:
        since = old.last_transition_time or since
    fresh = Condition(
        type=ALLOWED,
        status=status,
        reason=reason,
        message=message,
        last_transition_time=since,
        observed_generation=generation,
    )
    return (*(each for each in budget.status.conditions if each.type != ALLOWED), fresh)


def status_tree(old: BudgetStatus, status: BudgetStatus) -> Tree:
    """Return what to write so that one status becomes the other."""
    gone: Tree = dict.fromkeys(old.disrupted_pods)
    conditions = []
    for condition in status.conditions:
        tree = condition.to_tree()
        tree.setdefault("message", "")
        conditions.append(tree)
    return {
        "observedGeneration": status.observed_generation,
        "disruptedPods": {**gone, **status.disrupted_pods} or None,
        "disruptionsAllowed": status.disruptions_allowed,
        "currentHealthy": status.current_healthy,
        "desiredHealthy": status.desired_healthy,
        "expectedPods": status.expected_pods,
        "conditions": conditions,
    }

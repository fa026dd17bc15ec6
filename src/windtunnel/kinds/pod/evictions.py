"""Evictions: a polite request to delete a pod, which disruption budgets may refuse.

The verdict is pure: the API server finds the pod and its budgets, and does what is said.
Source: policy/v1 of v1.36.3.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from windtunnel.machinery.errors import ApiError, Forbidden, TooManyRequests
from windtunnel.machinery.selectors import LabelSelector, MalformedSelector
from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Tree, dig

API_VERSIONS: Final = ("policy/v1", "policy/v1beta1")
_VIOLATES: Final = "Cannot evict pod as it would violate the pod's disruption budget."
_CONDITION: Final = "DisruptionAllowed"
_UNOBSERVED_SECONDS: Final = 10
_MOST_DISRUPTED: Final = 2000
"""More pods than this under way in one budget mean that its controller is not keeping up."""


class SeveralBudgets(ApiError):
    """Two budgets select the pod; which one should count is nowhere said."""

    code, reason = 500, ""

    def __init__(self) -> None:
        super().__init__(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does"
            " not support."
        )


@dataclass(frozen=True, slots=True)
class Allowed:
    """The pod may go. ``budget`` is the changed budget to write first, None where none counts."""

    budget: Tree | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """The pod stays; ``error`` is the answer."""

    error: ApiError = field(repr=False)


def ignores_budgets(pod: Tree) -> bool:
    """Say whether a pod that is done, not yet started or already going counts for no budget."""
    if dig(pod, "metadata", "deletionTimestamp"):
        return True
    return dig(pod, "status", "phase") in ("Succeeded", "Failed", "Pending")


def is_ready(pod: Tree) -> bool:
    """Say whether the pod's Ready condition is True."""
    return any(
        condition.get("type") == "Ready" and condition.get("status") == "True"
        for condition in dig(pod, "status", "conditions") or ()
    )


def budgets_of(pod: Tree, budgets: list[Tree]) -> list[Tree]:
    """Return those budgets of the pod's namespace that select it."""
    labels = dig(pod, "metadata", "labels") or {}
    found = []
    for budget in budgets:
        try:
            selector = LabelSelector.from_tree(dig(budget, "spec", "selector"))
        except MalformedSelector:
            continue
        if selector.matches(labels):
            found.append(budget)
    return found


def judge(pod: Tree, budgets: list[Tree], now: float) -> Allowed | Refused:
    """Say whether a pod may be evicted now.

    Args:
        pod: The pod.
        budgets: All budgets of its namespace; the trees belong to this function.
        now: Seconds since the epoch, noted in the budget as the time of the disruption.

    Returns:
        ``Allowed``, with the lowered budget where one counts, or ``Refused``.
    """
    if ignores_budgets(pod):
        return Allowed()
    mine = budgets_of(pod, budgets)
    if len(mine) > 1:
        return Refused(SeveralBudgets())
    if not mine:
        return Allowed()
    budget = mine[0]
    if not is_ready(pod) and _spares_unready(budget):
        return Allowed()
    return _take_one(pod, budget, now)


def _spares_unready(budget: Tree) -> bool:
    """Say whether the budget lets pods go that are not ready anyway."""
    status = budget.get("status") or {}
    if dig(budget, "spec", "unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    wanted = status.get("desiredHealthy") or 0
    return (status.get("currentHealthy") or 0) >= wanted > 0


def _take_one(pod: Tree, budget: Tree, now: float) -> Allowed | Refused:
    metadata = budget.get("metadata") or {}
    status = budget.setdefault("status", {})
    name = metadata.get("name") or ""
    if (status.get("observedGeneration") or 0) < (metadata.get("generation") or 0):
        cause = f"The disruption budget {name} is still being processed by the server."
        return _refused(cause, retry_after_seconds=_UNOBSERVED_SECONDS)
    allowed = status.get("disruptionsAllowed") or 0
    disrupted = status.get("disruptedPods") or {}
    if allowed < 0:
        return _broken(name, "pdb disruptions allowed is negative")
    if len(disrupted) > _MOST_DISRUPTED:
        return _broken(
            name,
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
        )
    if allowed == 0:
        return _refused(_why_exhausted(name, status))
    status["disruptionsAllowed"] = allowed - 1
    if allowed == 1:
        _note_exhausted(status, now)
    pod_name = dig(pod, "metadata", "name") or ""
    status["disruptedPods"] = {**disrupted, pod_name: time_text(now)}
    return Allowed(budget)


def _condition(status: Tree) -> Tree | None:
    return next(
        (each for each in status.get("conditions") or () if each.get("type") == _CONDITION), None
    )


def _note_exhausted(status: Tree, now: float) -> None:
    """Say in the budget's condition that nothing more may go, as its controller would."""
    condition = _condition(status)
    if condition is None:
        condition = {"type": _CONDITION, "status": "", "message": ""}
        status["conditions"] = [*(status.get("conditions") or ()), condition]
    if condition.get("status") != "False":
        condition["status"] = "False"
        condition["lastTransitionTime"] = time_text(now)
    condition["reason"] = "InsufficientPods"
    condition["observedGeneration"] = status.get("observedGeneration") or 0


def _why_exhausted(name: str, status: Tree) -> str:
    start = f"The disruption budget {name}"
    wanted, healthy = status.get("desiredHealthy") or 0, status.get("currentHealthy") or 0
    condition = _condition(status) or {}
    message = condition.get("message") if condition.get("status") == "False" else ""
    reason = condition.get("reason")
    if message and reason == "SyncFailed":
        return f"{start} does not allow evicting pods currently because it failed sync: {message}"
    if healthy <= wanted:
        return f"{start} needs {wanted} healthy pods and has {healthy} currently"
    if message:
        return f"{start} does not allow evicting pods currently ({reason}): {message}"
    return f"{start} does not allow evicting pods currently"


def _broken(name: str, why: str) -> Refused:
    return Refused(Forbidden.of("poddisruptionbudget", "policy", name, why))


def _refused(cause: str, retry_after_seconds: int | None = None) -> Refused:
    details: Tree = {"causes": [{"reason": "DisruptionBudget", "message": cause}]}
    if retry_after_seconds is not None:
        details["retryAfterSeconds"] = retry_after_seconds
    return Refused(
        TooManyRequests(_VIOLATES, details=details, retry_after_seconds=retry_after_seconds)
    )


def eviction_condition() -> Tree:
    """Return the pod condition that says why the pod goes; written before it is deleted."""
    return {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }

"""Taints and tolerations: who may stand on a node that says no.

Source: kube-scheduler v1.36. ``tolerationSeconds`` is for eviction only and never decoded here.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from windtunnel.kinds.rules.tolerations import tolerates


class Taint(Struct, frozen=True):
    """One taint of a node."""

    key: str = ""
    effect: str = ""
    value: str = ""


class Toleration(Struct, frozen=True):
    """One toleration of a pod; empty fields match anything."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""

    def tolerates(self, taint: Taint) -> bool:
        """Say whether the pod may ignore ``taint``."""
        return tolerates(self, taint)


Taints = tuple[Taint, ...]
Tolerations = tuple[Toleration, ...]

HARD = frozenset({"NoSchedule", "NoExecute"})
"""Effects that keep a pod off a node."""
SOFT = frozenset({"PreferNoSchedule"})
"""Effects that only make a node less welcome."""

UNSCHEDULABLE = Taint("node.kubernetes.io/unschedulable", "NoSchedule")
"""What ``spec.unschedulable`` means for tolerations."""


def untolerated(
    taints: Iterable[Taint], tolerations: Tolerations, effects: frozenset[str]
) -> list[Taint]:
    """Return the taints with one of ``effects`` that no toleration covers."""
    return [
        taint
        for taint in taints
        if taint.effect in effects and not any(one.tolerates(taint) for one in tolerations)
    ]

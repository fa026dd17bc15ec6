"""Taints keep pods off, or make a node less welcome.

Source: kube-scheduler v1.36, plugin TaintToleration (which no longer names the taint).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from windtunnel.fleet import HARD, SOFT, FleetView, Ints, NodeFacts, PodView, untolerated
from windtunnel.placement.relief import Relief, What
from windtunnel.placement.rule import normalised
from windtunnel.placement.verdict import GO_ON, Entrance, Scope, Verdict, refuse


@dataclass(frozen=True, slots=True)
class TaintToleration:
    """Refuse nodes with untolerated hard taints; prefer those with fewer soft ones."""

    name: ClassVar[str] = "TaintToleration"
    scope: ClassVar[Scope] = Scope.FACTS

    def admit(self, pod: PodView, view: FleetView) -> Entrance:
        """Always look at nodes."""
        return GO_ON

    def filter(self, pod: PodView, view: FleetView) -> Verdict:
        """Judge every row."""
        tainted = view.untolerated(pod.shape.tolerations, HARD) > 0
        return refuse(tainted, "node(s) had untolerated taint(s)", unresolvable=True)

    def relieved(self, pod: PodView, relief: Relief, view: FleetView) -> bool:
        """A node lost the last taint in the way, or the pod learned to tolerate."""
        match relief:
            case Relief(What.OWN_TOLERATIONS):
                return True
            case Relief(What.NODE_ADDED | What.NODE_TAINTS, before, node) if node is not None:
                return not _refuses(node, pod) and (before is None or _refuses(before, pod))
            case _:
                return False

    def applies(self, pod: PodView, view: FleetView) -> bool:
        """Every pod gets this score."""
        return True

    def same(self, pod: PodView, view: FleetView) -> int | None:
        """Without soft taints anywhere all nodes are equally welcome."""
        return None if self._soft(pod, view).any() else 100

    def compare(self, pod: PodView, view: FleetView) -> Ints:
        """Fewer untolerated soft taints are better."""
        return normalised(self._soft(pod, view), reverse=True)

    def _soft(self, pod: PodView, view: FleetView) -> Ints:
        relevant = tuple(
            one for one in pod.shape.tolerations if not one.effect or one.effect in SOFT
        )
        return view.untolerated(relevant, SOFT)


def _refuses(node: NodeFacts, pod: PodView) -> bool:
    return bool(untolerated(node.taints, pod.shape.tolerations, HARD))

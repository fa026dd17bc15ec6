"""Cordoned nodes take only pods that tolerate the cordon.

Source: kube-scheduler v1.36, plugin NodeUnschedulable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from windtunnel.fleet import FleetView, PodView
from windtunnel.placement.relief import Relief, What
from windtunnel.placement.verdict import GO_ON, Entrance, Scope, Verdict, refuse


@dataclass(frozen=True, slots=True)
class NodeUnschedulable:
    """Refuse cordoned nodes."""

    name: ClassVar[str] = "NodeUnschedulable"
    scope: ClassVar[Scope] = Scope.FACTS

    def admit(self, pod: PodView, view: FleetView) -> Entrance:
        """Always look at nodes."""
        return GO_ON

    def filter(self, pod: PodView, view: FleetView) -> Verdict:
        """Judge every row."""
        cordoned = view.cordoned(pod.shape.tolerations)
        return refuse(cordoned, "node(s) were unschedulable", unresolvable=True)

    def relieved(self, pod: PodView, relief: Relief, view: FleetView) -> bool:
        """A node was opened, or the pod learned to tolerate."""
        match relief:
            case Relief(What.OWN_TOLERATIONS):
                return True
            case Relief(What.NODE_ADDED | What.NODE_TAINTS, before, node) if node is not None:
                was_open = before is not None and not before.unschedulable
                return not node.unschedulable and not was_open
            case _:
                return False

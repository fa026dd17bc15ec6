"""Pods that need something only some kubelets can do go to nodes that declare it.

Source: kube-scheduler v1.36, plugin NodeDeclaredFeatures; which demands need which feature is
written at ``Shape.features``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from windtunnel.fleet import FleetView, PodView
from windtunnel.placement.relief import NODE_NEWS, Relief, What
from windtunnel.placement.verdict import GO_ON, NOTHING_TO_DO, Entrance, Scope, Verdict, refuse


@dataclass(frozen=True, slots=True)
class NodeDeclaredFeatures:
    """Refuse nodes whose kubelets do not declare what the pod needs."""

    name: ClassVar[str] = "NodeDeclaredFeatures"
    scope: ClassVar[Scope] = Scope.FACTS

    def admit(self, pod: PodView, view: FleetView) -> Entrance:
        """Leave the rule out for the many pods that need no feature."""
        return GO_ON if pod.shape.features else NOTHING_TO_DO

    def filter(self, pod: PodView, view: FleetView) -> Verdict:
        """Judge every row."""
        lacking = ~view.declaring(pod.shape.features)
        return refuse(lacking, "node(s) didn't match Pod's required features", unresolvable=True)

    def relieved(self, pod: PodView, relief: Relief, view: FleetView) -> bool:
        """A node came or declares otherwise; which features is not asked."""
        return relief.what in NODE_NEWS or relief.what is What.NODE_FEATURES

"""A pod that names its node goes there only.

Source: kube-scheduler v1.36, plugin NodeName.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from windtunnel.fleet import FleetView, PodView
from windtunnel.placement.relief import NODE_NEWS, Relief
from windtunnel.placement.verdict import GO_ON, Entrance, Scope, Verdict, refuse


@dataclass(frozen=True, slots=True)
class NodeName:
    """Refuse nodes other than the one that ``spec.nodeName`` names."""

    name: ClassVar[str] = "NodeName"
    scope: ClassVar[Scope] = Scope.FACTS

    def admit(self, pod: PodView, view: FleetView) -> Entrance:
        """Always look at nodes."""
        return GO_ON

    def filter(self, pod: PodView, view: FleetView) -> Verdict:
        """Judge every row."""
        other = ~view.named([pod.node]) if pod.node else np.zeros(len(view), np.bool_)
        return refuse(other, "node(s) didn't match the requested node name", unresolvable=True)

    def relieved(self, pod: PodView, relief: Relief, view: FleetView) -> bool:
        """A node came, or its taints changed."""
        return relief.what in NODE_NEWS

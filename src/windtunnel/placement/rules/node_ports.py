"""A host port is taken once per address.

Source: kube-scheduler v1.36, plugin NodePorts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from windtunnel.fleet import FleetView, PodView, conflict
from windtunnel.placement.relief import NODE_NEWS, Relief, What
from windtunnel.placement.verdict import GO_ON, NOTHING_TO_DO, Entrance, Scope, Verdict, refuse


@dataclass(frozen=True, slots=True)
class NodePorts:
    """Refuse nodes where a wanted host port is in use."""

    name: ClassVar[str] = "NodePorts"
    scope: ClassVar[Scope] = Scope.ROW

    def admit(self, pod: PodView, view: FleetView) -> Entrance:
        """Nothing to do for pods without host ports."""
        return GO_ON if pod.shape.host_ports else NOTHING_TO_DO

    def filter(self, pod: PodView, view: FleetView) -> Verdict:
        """Judge every row."""
        taken = view.ports_taken(pod.shape.host_ports)
        reason = "node(s) didn't have free ports for the requested pod ports"
        return refuse(taken, reason, unresolvable=False)

    def relieved(self, pod: PodView, relief: Relief, view: FleetView) -> bool:
        """A node came or its taints changed, or a pod with a colliding port left."""
        if relief.what in NODE_NEWS:
            return True
        if relief.what is not What.POD_GONE or relief.pod_before is None:
            return False
        return any(
            port == other_port and protocol == other_protocol and conflict(address, other)
            for address, protocol, port in pod.shape.host_ports
            for other, other_protocol, other_port in relief.pod_before.shape.host_ports
        )

"""What controllers see of nodes and of the leases by which they live."""

from __future__ import annotations

from windtunnel.controllers.views import Condition, Metadata, View, find_condition


class Taint(View, frozen=True):
    """What a node keeps pods off with."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str | None = None


class NodeSpec(View, frozen=True):
    """What a node is to be."""

    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False


class NodeStatus(View, frozen=True):
    """What a node says of itself."""

    conditions: tuple[Condition, ...] = ()


class NodeView(View, frozen=True):
    """A node."""

    metadata: Metadata
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def ready(self) -> bool:
        """Whether condition Ready is True."""
        condition = find_condition(self.status.conditions, "Ready")
        return condition is not None and condition.status == "True"


class LeaseSpec(View, frozen=True):
    """When a lease was renewed."""

    renew_time: str | None = None


class LeaseView(View, frozen=True):
    """A lease."""

    spec: LeaseSpec = LeaseSpec()

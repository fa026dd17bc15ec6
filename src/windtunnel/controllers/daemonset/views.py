"""What controllers see of a DaemonSet."""

from __future__ import annotations

import msgspec

from windtunnel.controllers.views import Metadata, Selector, View


class RollingUpdate(View, frozen=True):
    """How many nodes may go without, or hold two pods, during a rollout."""

    max_surge: int | str | None = None
    max_unavailable: int | str | None = None


class UpdateStrategy(View, frozen=True):
    """How pods are exchanged."""

    type: str = "RollingUpdate"
    rolling_update: RollingUpdate = RollingUpdate()


class DaemonSetSpec(View, frozen=True):
    """What a DaemonSet is to hold."""

    selector: Selector = Selector()
    template: msgspec.Raw = msgspec.Raw(b"{}")
    update_strategy: UpdateStrategy = UpdateStrategy()
    min_ready_seconds: int = 0
    revision_history_limit: int = 10


class DaemonSetStatus(View, frozen=True):
    """What a DaemonSet has counted, by nodes."""

    current_number_scheduled: int = 0
    number_misscheduled: int = 0
    desired_number_scheduled: int = 0
    number_ready: int = 0
    observed_generation: int = 0
    updated_number_scheduled: int = 0
    number_available: int = 0
    number_unavailable: int = 0
    collision_count: int | None = None


class DaemonSetView(View, frozen=True):
    """A DaemonSet."""

    metadata: Metadata
    spec: DaemonSetSpec = DaemonSetSpec()
    status: DaemonSetStatus = DaemonSetStatus()

    @property
    def template_generation(self) -> str:
        """The number of the template, as the API server keeps it; "" for none."""
        return self.metadata.annotations.get("deprecated.daemonset.template.generation", "")

"""What controllers see of a StatefulSet and of the claims it makes."""

from __future__ import annotations

import msgspec

from windtunnel.controllers.views import Condition, Metadata, Selector, View


class RollingUpdate(View, frozen=True):
    """How far an update goes, and how many pods it may take at once."""

    partition: int = 0
    max_unavailable: int | str | None = None


class UpdateStrategy(View, frozen=True):
    """How pods are exchanged."""

    type: str = "RollingUpdate"
    rolling_update: RollingUpdate | None = None


class Ordinals(View, frozen=True):
    """Where counting begins."""

    start: int = 0


class ClaimRetention(View, frozen=True):
    """What becomes of claims when their pod or the whole set is no more wanted."""

    when_deleted: str = "Retain"
    when_scaled: str = "Retain"


class StatefulSetSpec(View, frozen=True):
    """What a StatefulSet is to hold."""

    replicas: int = 1
    selector: Selector = Selector()
    template: msgspec.Raw = msgspec.Raw(b"{}")
    volume_claim_templates: tuple[msgspec.Raw, ...] = ()
    service_name: str = ""
    pod_management_policy: str = "OrderedReady"
    update_strategy: UpdateStrategy = UpdateStrategy()
    revision_history_limit: int = 10
    min_ready_seconds: int = 0
    ordinals: Ordinals = Ordinals()
    persistent_volume_claim_retention_policy: ClaimRetention = ClaimRetention()


class StatefulSetStatus(View, frozen=True):
    """What a StatefulSet has counted."""

    observed_generation: int = 0
    replicas: int = 0
    ready_replicas: int = 0
    current_replicas: int = 0
    updated_replicas: int = 0
    available_replicas: int = 0
    current_revision: str = ""
    update_revision: str = ""
    collision_count: int | None = None
    conditions: tuple[Condition, ...] = ()


class StatefulSetView(View, frozen=True):
    """A StatefulSet."""

    metadata: Metadata
    spec: StatefulSetSpec = StatefulSetSpec()
    status: StatefulSetStatus = StatefulSetStatus()

    @property
    def ordinals(self) -> range:
        """The numbers of the pods it wants."""
        start = self.spec.ordinals.start
        return range(start, start + self.spec.replicas)

    @property
    def ordered(self) -> bool:
        """Whether pods come and go one after the other."""
        return self.spec.pod_management_policy != "Parallel"

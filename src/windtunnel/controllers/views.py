"""What controllers see of API objects: typed views with only the fields that some controller reads.

Pod templates stay raw bytes until a pod is made of one. Optional numbers are None where the API
tells an absent value from zero.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from windtunnel.machinery.change import Loose
from windtunnel.machinery.tree import Tree, decode


class View(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """Common settings of all views; what is not named is skipped while decoding.

    What comes out of JSON has no cycles, so the collector need not look at views.
    """


class OwnerReference(View, frozen=True):
    """Who an object belongs to."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False
    block_owner_deletion: bool = False

    @property
    def group(self) -> str:
        """The API group of the owner, "" for core."""
        return self.api_version.rpartition("/")[0]


class Metadata(View, frozen=True):
    """What every object has."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str = ""
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()

    @property
    def deleting(self) -> bool:
        """Whether deletion has begun."""
        return self.deletion_timestamp is not None

    @property
    def controller(self) -> OwnerReference | None:
        """The reference that manages the object, or None."""
        for reference in self.owner_references:
            if reference.controller:
                return reference
        return None


class Condition(View, frozen=True):
    """One entry of status.conditions."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None
    last_update_time: str | None = None
    last_probe_time: str | None = None
    last_heartbeat_time: str | None = None
    observed_generation: int | None = None

    def to_tree(self) -> Tree:
        """Return the condition as the API writes it, without what is absent."""
        tree: Tree = msgspec.to_builtins(self)
        return {key: value for key, value in tree.items() if value is not None and value != ""}


class Toleration(View, frozen=True):
    """A taint that a pod puts up with."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class ClaimSource(View, frozen=True):
    """A volume that is a claim."""

    claim_name: str = ""


class Volume(View, frozen=True):
    """One volume of a pod."""

    persistent_volume_claim: ClaimSource | None = None


class PodSpec(View, frozen=True):
    """What a pod is to be."""

    node_name: str = ""
    hostname: str = ""
    subdomain: str = ""
    tolerations: tuple[Toleration, ...] = ()
    volumes: tuple[Volume, ...] = ()
    affinity: Loose | None = None


class Terminated(View, frozen=True):
    """How a container ended."""

    exit_code: int = 0
    finished_at: str | None = None


class ContainerState(View, frozen=True):
    """The present or last state of a container; only endings matter here."""

    terminated: Terminated | None = None


class ContainerStatus(View, frozen=True):
    """What became of a container."""

    name: str = ""
    restart_count: int = 0
    state: ContainerState = ContainerState()


class PodAddress(View, frozen=True):
    """One address of a pod."""

    ip: str = ""


class PodStatus(View, frozen=True):
    """What a pod is now."""

    phase: str = ""
    pod_ip: str = msgspec.field(default="", name="podIP")
    pod_ips: tuple[PodAddress, ...] = msgspec.field(default=(), name="podIPs")
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()


class PodView(View, frozen=True):
    """A pod."""

    metadata: Metadata
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def finished(self) -> bool:
        """Whether the pod has come to its end."""
        return self.status.phase in ("Succeeded", "Failed")

    @property
    def active(self) -> bool:
        """Whether the pod counts as a replica."""
        return not self.finished and not self.metadata.deleting

    @property
    def claims(self) -> tuple[str, ...]:
        """Names of the claims that the pod mounts."""
        return tuple(
            volume.persistent_volume_claim.claim_name
            for volume in self.spec.volumes
            if volume.persistent_volume_claim is not None
        )

    @property
    def ready(self) -> bool:
        """Whether condition Ready is True."""
        condition = find_condition(self.status.conditions, "Ready")
        return condition is not None and condition.status == "True"


class Selector(View, frozen=True):
    """A label selector, as objects carry it."""

    match_labels: dict[str, str] = {}
    match_expressions: tuple[dict[str, Any], ...] = ()


class ReplicaSetSpec(View, frozen=True):
    """What a ReplicaSet is to hold."""

    replicas: int = 1
    min_ready_seconds: int = 0
    selector: Selector = Selector()
    template: msgspec.Raw = msgspec.Raw(b"{}")


class ReplicaSetStatus(View, frozen=True):
    """What a ReplicaSet has counted."""

    replicas: int = 0
    fully_labeled_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    terminating_replicas: int | None = None
    observed_generation: int = 0
    conditions: tuple[Condition, ...] = ()


class ReplicaSetView(View, frozen=True):
    """A ReplicaSet."""

    metadata: Metadata
    spec: ReplicaSetSpec = ReplicaSetSpec()
    status: ReplicaSetStatus = ReplicaSetStatus()


class NamespaceSpec(View, frozen=True):
    """Who must agree before a namespace goes."""

    finalizers: tuple[str, ...] = ()


class NamespaceStatus(View, frozen=True):
    """Whether a namespace is going."""

    phase: str = ""
    conditions: tuple[Condition, ...] = ()


class NamespaceView(View, frozen=True):
    """A namespace."""

    metadata: Metadata
    spec: NamespaceSpec = NamespaceSpec()
    status: NamespaceStatus = NamespaceStatus()


class QuotaSpec(View, frozen=True):
    """What a quota bounds."""

    hard: dict[str, str] = {}
    scopes: tuple[str, ...] = ()
    scope_selector: dict[str, Any] | None = None


class QuotaStatus(View, frozen=True):
    """What a quota has counted."""

    hard: dict[str, str] = {}
    used: dict[str, str] = {}


class QuotaView(View, frozen=True):
    """A ResourceQuota."""

    metadata: Metadata
    spec: QuotaSpec = QuotaSpec()
    status: QuotaStatus = QuotaStatus()


class PlainView(View, frozen=True):
    """An object of which only the metadata matters."""

    metadata: Metadata


class ClaimSpec(View, frozen=True):
    """What a volume claim asks for."""

    volume_name: str = ""
    storage_class_name: str | None = None


class ClaimView(View, frozen=True):
    """A PersistentVolumeClaim."""

    metadata: Metadata
    spec: ClaimSpec = ClaimSpec()


class ConfigMapView(View, frozen=True):
    """A ConfigMap."""

    metadata: Metadata
    data: dict[str, str] = {}


_C = TypeVar("_C", bound=Condition)


def find_condition(conditions: tuple[_C, ...], type_: str) -> _C | None:
    """Return the condition of this type, or None."""
    for condition in conditions:
        if condition.type == type_:
            return condition
    return None


def template_of(raw: msgspec.Raw) -> Tree:
    """Decode a pod template; the caller owns the tree."""
    tree: Tree = decode(bytes(raw))
    return tree

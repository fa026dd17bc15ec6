"""Pods as they come over the wire: only the fields that placement reads, about 10 µs a pod."""

from __future__ import annotations

from typing import Final

from msgspec import Struct, field

from windtunnel.fleet.taints import Tolerations
from windtunnel.machinery.change import Loose, ViewReader


class StatedResources(Struct, frozen=True):
    """``resources`` of a container, of a pod, or as a status reports them."""

    requests: dict[str, str | int | float] | None = None


class _Port(Struct, frozen=True, rename="camel"):
    """One port of a container."""

    host_port: int = 0
    host_ip: str = field(default="", name="hostIP")
    protocol: str = "TCP"


class RestartRule(Struct, frozen=True):
    """What one rule of a container does when it exits."""

    action: str = ""


class Container(Struct, frozen=True, rename="camel"):
    """One container, as far as placement cares."""

    name: str = ""
    image: str = ""
    resources: StatedResources | None = None
    ports: tuple[_Port, ...] | None = None
    restart_policy: str = ""
    restart_policy_rules: tuple[RestartRule, ...] | None = None


class ContainerHold(Struct, frozen=True, rename="camel"):
    """What a kubelet says a container really holds (in-place resize)."""

    name: str = ""
    resources: StatedResources | None = None
    allocated_resources: dict[str, str | int | float] | None = None


class _ImageSource(Struct, frozen=True):
    """An image that is mounted."""

    reference: str = ""


class _Volume(Struct, frozen=True):
    """A volume, as far as images go."""

    image: _ImageSource | None = None


class Demand(Struct, frozen=True, rename="camel"):
    """The part of a spec that rules of placement read."""

    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] | None = None
    resources: StatedResources | None = None
    overhead: dict[str, str | int | float] | None = None
    node_selector: dict[str, str] | None = None
    affinity: Loose | None = None
    tolerations: Tolerations | None = None
    topology_spread_constraints: list[Loose] | None = None
    volumes: tuple[_Volume, ...] | None = None
    host_network: bool = False
    host_users: bool | None = None


class _Named(Struct, frozen=True):
    """Something that is called by name."""

    name: str = ""


class _Owner(Struct, frozen=True, rename="camel"):
    """One owner reference."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    controller: bool | None = None


class _Metadata(Struct, frozen=True, rename="camel"):
    """Who the pod is."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    labels: dict[str, str] | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    owner_references: tuple[_Owner, ...] | None = None


class _Spec(Demand, frozen=True, rename="camel"):
    """What it asks for."""

    node_name: str = ""
    priority: int | None = None
    scheduler_name: str = "default-scheduler"
    preemption_policy: str | None = None
    scheduling_gates: tuple[_Named, ...] | None = None
    resource_claims: tuple[_Named, ...] | None = None


class PodCondition(Struct, frozen=True):
    """One condition of a pod's status."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class _Status(Struct, frozen=True, rename="camel"):
    """How far it has come."""

    phase: str = ""
    nominated_node_name: str = ""
    start_time: str | None = None
    conditions: tuple[PodCondition, ...] | None = None
    container_statuses: tuple[ContainerHold, ...] | None = None
    init_container_statuses: tuple[ContainerHold, ...] | None = None


class Body(Struct, frozen=True):
    """A pod."""

    metadata: _Metadata = _Metadata()
    spec: _Spec = _Spec()
    status: _Status = _Status()


POD_BODIES: Final[ViewReader[Body]] = ViewReader(Body)

"""Pods as they come over the wire: only the fields that placement reads, about 10 µs a pod."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct, field

from windtunnel.fleet.taints import Tolerations


class Resources(Struct, frozen=True):
    """``resources`` of a container, of a pod, or as a status reports them."""

    requests: dict[str, str | int | float] | None = None


class Port(Struct, frozen=True, rename="camel"):
    """One port of a container."""

    host_port: int = 0
    host_ip: str = field(default="", name="hostIP")
    protocol: str = "TCP"


class Container(Struct, frozen=True, rename="camel"):
    """One container, as far as placement cares."""

    name: str = ""
    image: str = ""
    resources: Resources | None = None
    ports: tuple[Port, ...] | None = None
    restart_policy: str = ""


class ContainerStatus(Struct, frozen=True, rename="camel"):
    """What a kubelet says a container really holds (in-place resize)."""

    name: str = ""
    resources: Resources | None = None
    allocated_resources: dict[str, str | int | float] | None = None


class ImageSource(Struct, frozen=True):
    """An image that is mounted."""

    reference: str = ""


class Volume(Struct, frozen=True):
    """A volume, as far as images go."""

    image: ImageSource | None = None


class Demand(Struct, frozen=True, rename="camel"):
    """The part of a spec that rules of placement read."""

    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] | None = None
    resources: Resources | None = None
    overhead: dict[str, str | int | float] | None = None
    node_selector: dict[str, str] | None = None
    affinity: dict[str, Any] | None = None
    tolerations: Tolerations | None = None
    topology_spread_constraints: list[dict[str, Any]] | None = None
    volumes: tuple[Volume, ...] | None = None


class Named(Struct, frozen=True):
    """Something that is called by name."""

    name: str = ""


class Owner(Struct, frozen=True, rename="camel"):
    """One owner reference."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    controller: bool | None = None


class Metadata(Struct, frozen=True, rename="camel"):
    """Who the pod is."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    labels: dict[str, str] | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    owner_references: tuple[Owner, ...] | None = None


class Spec(Demand, frozen=True, rename="camel"):
    """What it asks for."""

    node_name: str = ""
    priority: int | None = None
    scheduler_name: str = "default-scheduler"
    preemption_policy: str | None = None
    scheduling_gates: tuple[Named, ...] | None = None
    resource_claims: tuple[Named, ...] | None = None


class Condition(Struct, frozen=True):
    """One condition of a pod's status."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class Status(Struct, frozen=True, rename="camel"):
    """How far it has come."""

    phase: str = ""
    nominated_node_name: str = ""
    start_time: str | None = None
    conditions: tuple[Condition, ...] | None = None
    container_statuses: tuple[ContainerStatus, ...] | None = None
    init_container_statuses: tuple[ContainerStatus, ...] | None = None


class Body(Struct, frozen=True):
    """A pod."""

    metadata: Metadata = Metadata()
    spec: Spec = Spec()
    status: Status = Status()


_decoder = msgspec.json.Decoder(Body)


def decode_pod(body: bytes) -> Body:
    """Return the fields in a pod's JSON."""
    return _decoder.decode(body)

"""A node as placement sees it: a frozen value, so that a heartbeat compares equal.

The wire view decodes only what is read here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from msgspec import Struct

from windtunnel.fleet.requests import counts_as_scalar, whole
from windtunnel.fleet.taints import Taints
from windtunnel.kinds.rules.zones import zone_of
from windtunnel.machinery.change import Change, ViewReader

_PLAIN = ("cpu", "memory", "ephemeral-storage")


class _Metadata(Struct, frozen=True):
    name: str = ""
    labels: dict[str, str] | None = None


class _Spec(Struct, frozen=True):
    unschedulable: bool = False
    taints: Taints | None = None


class _Image(Struct, frozen=True, rename="camel"):
    names: tuple[str, ...] | None = None
    size_bytes: int = 0


class _Status(Struct, frozen=True, rename="camel"):
    allocatable: dict[str, str | int | float] | None = None
    images: tuple[_Image, ...] | None = None
    declared_features: tuple[str, ...] | None = None


class _Body(Struct, frozen=True):
    metadata: _Metadata = _Metadata()
    spec: _Spec = _Spec()
    status: _Status = _Status()


_bodies: Final[ViewReader[_Body]] = ViewReader(_Body)


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What a node is, apart from the pods on it."""

    name: str
    labels: Mapping[str, str]
    taints: Taints = ()
    unschedulable: bool = False
    allocatable: Mapping[str, int] = field(default_factory=dict)
    """Cpu in thousandths, memory, ephemeral storage and scalar resources."""
    allowed_pods: int = 0
    images: tuple[tuple[str, int], ...] = ()
    """Image name and bytes."""
    features: tuple[str, ...] = ()
    """``status.declaredFeatures``: what its kubelet says it can do."""

    @property
    def zone(self) -> str:
        """Return the key by which the node tree groups nodes: region and zone."""
        return zone_of(self.labels)


def read_node(json: bytes) -> NodeFacts:
    """Return the facts in a node's JSON."""
    return _facts(_bodies.decode(json))


def read_changed_node(change: Change) -> NodeFacts:
    """Return the facts of a node that has changed."""
    return _facts(_bodies.read(change))


def _facts(body: _Body) -> NodeFacts:
    found = whole(body.status.allocatable)
    return NodeFacts(
        name=body.metadata.name,
        labels=body.metadata.labels or {},
        taints=body.spec.taints or (),
        unschedulable=body.spec.unschedulable,
        allocatable={
            name: value for name, value in found.items() if name in _PLAIN or counts_as_scalar(name)
        },
        allowed_pods=found.get("pods", 0),
        images=tuple(
            (name, image.size_bytes)
            for image in body.status.images or ()
            for name in image.names or ()
        ),
        features=body.status.declared_features or (),
    )

"""A pod as placement sees it: identity apart from shape.

Pods of one shape (same namespace, labels and demands) are judged once, so shapes are interned: the
same ``Shape`` object for equal demands, compared by identity. The wire view decodes only what is
read here, about 10 µs a pod.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from weakref import WeakValueDictionary

import msgspec
from msgspec import Struct

from windtunnel.fleet.node_terms import NodeChoice, NodeTerm, node_term, node_terms
from windtunnel.fleet.pod_terms import (
    AffinityTerm,
    SpreadConstraint,
    affinity_term,
    spread_constraint,
)
from windtunnel.fleet.requests import (
    ASSUMED,
    Amounts,
    Container,
    ContainerStatus,
    Resources,
    assumed_for,
    pod_requests,
)
from windtunnel.fleet.taints import Tolerations
from windtunnel.kernel.clock import parse_rfc3339
from windtunnel.machinery.selectors import Requirement
from windtunnel.machinery.tree import Key, Tree

HostPort = tuple[str, str, int]
"""Address, protocol, port."""


class _Named(Struct, frozen=True):
    name: str = ""


class _Owner(Struct, frozen=True, rename="camel"):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    controller: bool | None = None


class _Metadata(Struct, frozen=True, rename="camel"):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    labels: dict[str, str] | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    owner_references: tuple[_Owner, ...] | None = None


class _Image(Struct, frozen=True):
    reference: str = ""


class _Volume(Struct, frozen=True):
    image: _Image | None = None


class _Demand(Struct, frozen=True, rename="camel"):
    """The part of a spec that rules of placement read."""

    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] | None = None
    resources: Resources | None = None
    overhead: dict[str, str | int | float] | None = None
    node_selector: dict[str, str] | None = None
    affinity: dict[str, Any] | None = None
    tolerations: Tolerations | None = None
    topology_spread_constraints: list[dict[str, Any]] | None = None
    volumes: tuple[_Volume, ...] | None = None


class _Spec(_Demand, frozen=True, rename="camel"):
    node_name: str = ""
    priority: int | None = None
    scheduler_name: str = "default-scheduler"
    preemption_policy: str | None = None
    scheduling_gates: tuple[_Named, ...] | None = None
    resource_claims: tuple[_Named, ...] | None = None


class Condition(Struct, frozen=True):
    """One condition of a pod's status."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class _Status(Struct, frozen=True, rename="camel"):
    phase: str = ""
    nominated_node_name: str = ""
    start_time: str | None = None
    conditions: tuple[Condition, ...] | None = None
    container_statuses: tuple[ContainerStatus, ...] | None = None
    init_container_statuses: tuple[ContainerStatus, ...] | None = None


class _Body(Struct, frozen=True):
    metadata: _Metadata = _Metadata()
    spec: _Spec = _Spec()
    status: _Status = _Status()


_decoder = msgspec.json.Decoder(_Body)
_encoder = msgspec.json.Encoder()


class Shape:
    """What a pod demands, shared by all pods that demand the same. Compared by identity."""

    def __init__(
        self,
        namespace: str,
        labels: Mapping[str, str],
        demand: _Demand,
        statuses: Mapping[str, ContainerStatus] | None,
    ) -> None:
        self.namespace = namespace
        self.labels = labels
        self._demand = demand
        self._statuses = statuses
        self.tolerations: Tolerations = demand.tolerations or ()

    def _requests(self, pod_level: Resources | None, assumed: Mapping[str, int] | None) -> Amounts:
        demand = self._demand
        return pod_requests(
            demand.containers,
            demand.init_containers or (),
            pod_level,
            demand.overhead,
            statuses=self._statuses,
            assumed=assumed,
        )

    @cached_property
    def requests(self) -> Amounts:
        """What the node must have free; cpu in thousandths."""
        return self._requests(self._demand.resources, None)

    @cached_property
    def nonzero(self) -> tuple[int, int]:
        """Cpu and memory as nodes sum them for scores: silent containers count a little."""
        assumed = assumed_for(self.requests, self._demand.resources)
        found = self._requests(self._demand.resources, assumed) if assumed else self.requests
        return found.get("cpu", 0), found.get("memory", 0)

    @cached_property
    def scored(self) -> Amounts:
        """Requests as NodeResourcesFit scores them: assumed amounts, pod level ignored."""
        return self._requests(None, ASSUMED)

    @cached_property
    def node_choice(self) -> NodeChoice:
        """The nodes that ``nodeSelector`` and required node affinity leave."""
        selector = tuple(
            Requirement(key, "in", (value,))
            for key, value in sorted((self._demand.node_selector or {}).items())
        )
        required = self._affinity("nodeAffinity").get(
            "requiredDuringSchedulingIgnoredDuringExecution"
        )
        return NodeChoice(selector, node_terms(required))

    @cached_property
    def preferred_nodes(self) -> tuple[tuple[int, NodeTerm], ...]:
        """Weighted preferences for nodes, without those that cannot count."""
        return preferred_node_terms(self._affinity("nodeAffinity"))

    @cached_property
    def affinity(self) -> tuple[AffinityTerm, ...]:
        """Required pod affinity."""
        return self._required("podAffinity")

    @cached_property
    def anti_affinity(self) -> tuple[AffinityTerm, ...]:
        """Required pod anti-affinity."""
        return self._required("podAntiAffinity")

    @cached_property
    def preferred_affinity(self) -> tuple[AffinityTerm, ...]:
        """Preferred pod affinity, with weights."""
        return self._preferred("podAffinity")

    @cached_property
    def preferred_anti_affinity(self) -> tuple[AffinityTerm, ...]:
        """Preferred pod anti-affinity, with weights."""
        return self._preferred("podAntiAffinity")

    @cached_property
    def has_pod_terms(self) -> bool:
        """Whether the pod says anything about other pods."""
        return bool(
            self.affinity
            or self.anti_affinity
            or self.preferred_affinity
            or self.preferred_anti_affinity
        )

    @cached_property
    def spread(self) -> tuple[SpreadConstraint, ...]:
        """Topology spread constraints, hard and soft."""
        return tuple(
            spread_constraint(tree, self.labels)
            for tree in self._demand.topology_spread_constraints or ()
        )

    @cached_property
    def host_ports(self) -> tuple[HostPort, ...]:
        """Host ports of containers and sidecars."""
        demand = self._demand
        sidecars = (one for one in demand.init_containers or () if one.restart_policy == "Always")
        return tuple(
            (port.host_ip or "0.0.0.0", port.protocol or "TCP", port.host_port)
            for container in (*sidecars, *demand.containers)
            for port in container.ports or ()
            if port.host_port > 0
        )

    @cached_property
    def images(self) -> tuple[str, ...]:
        """Images of all containers and image volumes, with tags."""
        demand = self._demand
        found = [one.image for one in (*(demand.init_containers or ()), *demand.containers)]
        found += [one.image.reference for one in demand.volumes or () if one.image is not None]
        return tuple(tagged(image) for image in found)

    @cached_property
    def container_count(self) -> int:
        """Containers and init containers."""
        return len(self._demand.containers) + len(self._demand.init_containers or ())

    def _affinity(self, part: str) -> Tree:
        return (self._demand.affinity or {}).get(part) or {}

    def _required(self, part: str) -> tuple[AffinityTerm, ...]:
        terms = self._affinity(part).get("requiredDuringSchedulingIgnoredDuringExecution")
        return tuple(affinity_term(term, self.namespace) for term in terms or ())

    def _preferred(self, part: str) -> tuple[AffinityTerm, ...]:
        terms = self._affinity(part).get("preferredDuringSchedulingIgnoredDuringExecution")
        return tuple(
            affinity_term(term.get("podAffinityTerm") or {}, self.namespace, term.get("weight", 0))
            for term in terms or ()
        )


def preferred_node_terms(node_affinity: Tree) -> tuple[tuple[int, NodeTerm], ...]:
    """Return weighted terms of a ``NodeAffinity`` object; empty terms and weight 0 drop out."""
    found = (
        (term.get("weight", 0), node_term(term.get("preference") or {}))
        for term in node_affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
    )
    return tuple((weight, term) for weight, term in found if weight and not term.empty)


def tagged(image: str) -> str:
    """Return the image name with ``:latest`` where it names no tag."""
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"


@dataclass(frozen=True, slots=True)
class PodView:
    """One pod: who it is, and the shape it shares."""

    key: Key
    uid: str
    shape: Shape
    node: str = ""
    nominated: str = ""
    priority: int = 0
    created: float = 0.0
    start: float | None = None
    terminating: bool = False
    finished: bool = False
    scheduler: str = "default-scheduler"
    may_preempt: bool = True
    gates: tuple[str, ...] = ()
    has_claims: bool = False
    owner: tuple[str, str, str] | None = None
    """API version, kind and name of the controlling owner."""
    conditions: tuple[Condition, ...] = field(default=(), repr=False)
    revision: str = ""
    generation: int = 0

    def condition(self, kind: str) -> Condition | None:
        """Return the condition of that type."""
        return next((one for one in self.conditions if one.type == kind), None)


class PodReader:
    """Decodes pods and interns their shapes; a shape lives as long as a pod has it."""

    def __init__(self) -> None:
        self._shapes: WeakValueDictionary[bytes, Shape] = WeakValueDictionary()

    def read(self, body: bytes) -> PodView:
        """Return the view of a pod's JSON."""
        return self._view(_decoder.decode(body))

    def read_tree(self, tree: Tree) -> PodView:
        """Return the view of a pod's tree."""
        return self._view(msgspec.convert(tree, _Body))

    def _view(self, body: _Body) -> PodView:
        metadata, spec, status = body.metadata, body.spec, body.status
        return PodView(
            key=Key(metadata.namespace, metadata.name),
            uid=metadata.uid,
            shape=self._shape(body),
            node=spec.node_name,
            nominated=status.nominated_node_name,
            priority=spec.priority or 0,
            created=_seconds(metadata.creation_timestamp) or 0.0,
            start=_seconds(status.start_time),
            terminating=metadata.deletion_timestamp is not None,
            finished=status.phase in ("Succeeded", "Failed"),
            scheduler=spec.scheduler_name,
            may_preempt=spec.preemption_policy != "Never",
            gates=tuple(gate.name for gate in spec.scheduling_gates or ()),
            has_claims=bool(spec.resource_claims),
            owner=next(
                (
                    (owner.api_version, owner.kind, owner.name)
                    for owner in metadata.owner_references or ()
                    if owner.controller
                ),
                None,
            ),
            conditions=status.conditions or (),
            revision=metadata.resource_version,
            generation=metadata.generation,
        )

    def _shape(self, body: _Body) -> Shape:
        spec, status = body.spec, body.status
        labels = body.metadata.labels or {}
        statuses = {
            one.name: one
            for one in (*(status.container_statuses or ()), *(status.init_container_statuses or ()))
            if one.resources is not None or one.allocated_resources is not None
        }
        demand = (
            spec.containers,
            spec.init_containers,
            spec.resources,
            spec.overhead,
            spec.node_selector,
            spec.affinity,
            spec.tolerations,
            spec.topology_spread_constraints,
            spec.volumes if spec.volumes and any(one.image for one in spec.volumes) else None,
        )
        key = _encoder.encode((body.metadata.namespace, labels, demand, statuses))
        shape = self._shapes.get(key)
        if shape is None:
            shape = Shape(body.metadata.namespace, labels, _Demand(*demand), statuses or None)
            self._shapes[key] = shape
        return shape


def _seconds(time: str | None) -> float | None:
    return None if time is None else parse_rfc3339(time)

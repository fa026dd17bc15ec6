"""A pod as placement sees it: who it is, apart from its shape.

The reader interns shapes: the same ``Shape`` object for equal demands.
"""

from __future__ import annotations

from weakref import WeakValueDictionary

import msgspec

from windtunnel.fleet.pod_wire import POD_BODIES, Body, Demand, PodCondition
from windtunnel.fleet.shape import Shape
from windtunnel.machinery.change import Change
from windtunnel.machinery.timestamp import parse_time
from windtunnel.machinery.tree import Key

_encoder = msgspec.json.Encoder()


class PodView(msgspec.Struct, frozen=True, gc=False):
    """One pod: who it is, and the shape it shares. A struct, for one is made at every change."""

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
    conditions: tuple[PodCondition, ...] = ()
    revision: str = ""
    generation: int = 0

    def condition(self, kind: str) -> PodCondition | None:
        """Return the condition of that type."""
        return next((one for one in self.conditions if one.type == kind), None)


class PodReader:
    """Decodes pods and interns their shapes; a shape lives as long as a pod has it."""

    def __init__(self) -> None:
        self._shapes: WeakValueDictionary[bytes, Shape] = WeakValueDictionary()

    def read(self, json: bytes) -> PodView:
        """Return the view of a pod's JSON."""
        return self._view(POD_BODIES.decode(json))

    def read_changed(self, change: Change) -> PodView:
        """Return the view of a pod that has changed."""
        return self._view(POD_BODIES.read(change))

    def _view(self, body: Body) -> PodView:
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

    def _shape(self, body: Body) -> Shape:
        spec, status = body.spec, body.status
        labels = body.metadata.labels or {}
        statuses = {
            one.name: one
            for one in (*(status.container_statuses or ()), *(status.init_container_statuses or ()))
            if one.resources is not None or one.allocated_resources is not None
        }
        mapped = spec.host_network and spec.host_users is False
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
            mapped,
            False if mapped else None,
        )
        infeasible = bool(statuses) and any(
            one.type == "PodResizePending" and one.reason == "Infeasible"
            for one in status.conditions or ()
        )
        key = _encoder.encode((body.metadata.namespace, labels, demand, statuses, infeasible))
        shape = self._shapes.get(key)
        if shape is None:
            shape = Shape(
                body.metadata.namespace, labels, Demand(*demand), statuses or None, infeasible
            )
            self._shapes[key] = shape
        return shape


def _seconds(time: str | None) -> float | None:
    return None if time is None else parse_time(time)

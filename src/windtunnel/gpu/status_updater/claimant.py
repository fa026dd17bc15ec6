"""What a pod on a node asks of its GPUs: the few facts that the account needs.

A pod may be several things at once: *dedicated* (a container's limit names the GPU), *shared* (it
loads the GPU that a reservation pod holds), and served by *claims* (dynamic resource allocation).

Source: fake-gpu-operator 0.2 for the three sorts; that every container counts, init containers as
the scheduler counts them, is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec

from windtunnel.devices import (
    FRACTION,
    GPU,
    POD_GROUP,
    UTILIZATION,
    WORKLOAD_KIND,
    workload_of_kind,
)
from windtunnel.machinery import quantity
from windtunnel.machinery.tree import Key

RESERVED_GPU: Final = "run.ai/reserve_for_gpu_index"
"""On a reservation pod: the id of the GPU it holds."""
_SHARED_GPU: Final = "runai-gpu"
_SHARED_GROUP: Final = "runai-gpu-group"
_VENDOR: Final = "nvidia.com/"
_FINISHED: Final = frozenset({"Succeeded", "Failed"})


class _Claim(msgspec.Struct):
    name: str = ""


class _Resources(msgspec.Struct):
    limits: dict[str, str | int] | None = None
    claims: list[_Claim] | None = None


class _Container(msgspec.Struct, rename="camel"):
    name: str = ""
    resources: _Resources | None = None
    restart_policy: str = ""


class _ClaimName(msgspec.Struct, rename="camel"):
    resource_claim_name: str = ""


class _Metadata(msgspec.Struct, rename="camel"):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str = ""
    containers: list[_Container] | None = None
    init_containers: list[_Container] | None = None
    resource_claims: list[_ClaimName] | None = None


class _DeviceHealth(msgspec.Struct, rename={"resource_id": "resourceID"}):
    resource_id: str = ""


class _Given(msgspec.Struct):
    name: str = ""
    resources: list[_DeviceHealth] | None = None


class _ContainerStatus(msgspec.Struct, rename="camel"):
    name: str = ""
    allocated_resources_status: list[_Given] | None = None


class _Status(msgspec.Struct, rename="camel"):
    phase: str = ""
    container_statuses: list[_ContainerStatus] | None = None
    init_container_statuses: list[_ContainerStatus] | None = None
    resource_claim_statuses: list[_ClaimName] | None = None


class AskingPod(msgspec.Struct):
    """What the account looks at in a pod."""

    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimant:
    """A pod that has, shares or waits for GPUs of its node."""

    key: Key
    uid: str
    node: str
    running: bool = True
    wants: tuple[tuple[str, int], ...] = ()
    """(container, GPUs) of a dedicated pod."""
    parts: tuple[tuple[str, str, int], ...] = ()
    """(resource, container, count) of what GPUs are cut into, or shared as under another name."""
    given: tuple[tuple[str, str], ...] = ()
    """(container, device id) as the kubelet gave them, where it says so."""
    shared: bool = False
    shared_index: str = ""
    """The index that its reservation pod was made for; "" where a group says which."""
    group: str = ""
    """The group of pods that share one GPU, its reservation pod among them."""
    reserved: str | None = None
    """What a reservation pod says that it holds; None where it does not say yet."""
    claims: tuple[str, ...] = ()
    claim_container: str = ""
    """The first container that uses a claim."""
    share: str | None = None
    simulated: str | None = None
    workload: str = ""
    pod_group: str = ""
    """Names the PodGroup that says what sort of workload it is, where the pod does not."""

    def asks(self) -> list[tuple[str, str, int]]:
        """Return (resource, container, count) of everything that it is to be given."""
        return [*((GPU, container, count) for container, count in self.wants), *self.parts]


def claimant_of(pod: AskingPod, reservation_namespace: str) -> Claimant | None:
    """Return what a pod asks of GPUs; None where it asks nothing, or holds nothing any more."""
    meta, spec, status = pod.metadata, pod.spec, pod.status
    if not spec.node_name or status.phase in _FINISHED:
        return None
    labels, notes = meta.labels or {}, meta.annotations or {}
    containers, inits = spec.containers or [], spec.init_containers or []
    wants = _wants(containers, inits, GPU)
    parts = tuple(
        (resource, container, count)
        for resource in _resources_of_parts([*containers, *inits])
        for container, count in _wants(containers, inits, resource)
    )
    shared = meta.namespace != reservation_namespace and (
        _SHARED_GPU in notes or _SHARED_GROUP in labels
    )
    if not wants and not parts and not shared and not spec.resource_claims:
        return None
    kind = labels.get(WORKLOAD_KIND, "")
    workload = workload_of_kind(kind)
    return Claimant(
        key=Key(meta.namespace, meta.name),
        uid=meta.uid,
        node=spec.node_name,
        running=status.phase == "Running",
        wants=wants,
        parts=parts,
        given=_given(status),
        shared=shared,
        shared_index=notes.get(_SHARED_GPU, ""),
        group=labels.get(_SHARED_GROUP, ""),
        reserved=notes.get(RESERVED_GPU),
        claims=_claims(spec, status),
        claim_container=_claim_container([*containers, *inits]),
        share=notes.get(FRACTION),
        simulated=notes.get(UTILIZATION),
        workload=workload,
        pod_group="" if workload else notes.get(POD_GROUP, ""),
    )


def _resources_of_parts(containers: list[_Container]) -> list[str]:
    return sorted(
        {
            name
            for container in containers
            for name in (container.resources and container.resources.limits) or ()
            if name.startswith(_VENDOR) and name != GPU
        }
    )


def _wants(
    containers: list[_Container], inits: list[_Container], resource: str
) -> tuple[tuple[str, int], ...]:
    """Return how many of a resource each container holds.

    Sidecars and containers hold theirs together. An init container that needs more than all of
    them, with the sidecars before it, holds what is more: the pod keeps it while it lives.
    """
    held = [(container.name, _amount(container, resource)) for container in containers]
    sidecars: list[tuple[str, int]] = []
    most, greediest = 0, ""
    for container in inits:
        gpus = _amount(container, resource)
        if container.restart_policy == "Always":
            sidecars.append((container.name, gpus))
            continue
        needed = gpus + sum(count for _, count in sidecars)
        if needed > most:
            most, greediest = needed, container.name
    held += sidecars
    excess = most - sum(count for _, count in held)
    if excess > 0:
        held.append((greediest, excess))
    return tuple((name, count) for name, count in held if count > 0)


def _given(status: _Status) -> tuple[tuple[str, str], ...]:
    return tuple(
        (container.name, device.resource_id)
        for container in [
            *(status.container_statuses or ()),
            *(status.init_container_statuses or ()),
        ]
        for given in container.allocated_resources_status or ()
        if given.name.startswith(_VENDOR)
        for device in given.resources or ()
    )


def _amount(container: _Container, resource: str) -> int:
    limits = container.resources and container.resources.limits
    amount = limits.get(resource) if limits else None
    if amount is None:
        return 0
    try:
        return quantity.to_int(amount)
    except ValueError:
        return 0


def _claims(spec: _Spec, status: _Status) -> tuple[str, ...]:
    if not spec.resource_claims:
        return ()
    named = [*(status.resource_claim_statuses or ()), *spec.resource_claims]
    return tuple(
        dict.fromkeys(claim.resource_claim_name for claim in named if claim.resource_claim_name)
    )


def _claim_container(containers: list[_Container]) -> str:
    for container in containers:
        if container.resources is not None and container.resources.claims:
            return container.name
    return ""

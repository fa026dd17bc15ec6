"""What there is to give on a node: GPUs, slices, and as many shares of each as are offered.

Lots of one resource stand in the order in which they are given: the shares of one GPU not one after
the other, but a share of every GPU first.
"""

from __future__ import annotations

from dataclasses import dataclass

from windtunnel.devices import (
    FREE,
    GPU,
    AllocatedBy,
    GpuStatus,
    NodeTopology,
    Offering,
    Unit,
    geometry_of,
    offerings,
)

GpuPlace = tuple[int, int | None]
"""The number of a GPU, and of a slice on it; None for the whole GPU."""


@dataclass(frozen=True, slots=True)
class Lot:
    """One thing that one container can have."""

    resource: str
    id: str
    place: GpuPlace
    memory_mib: int
    sound: bool = True
    shared: bool = False
    before: GpuStatus = FREE
    """Who had it, and who loaded it."""


def lots_of(topology: NodeTopology) -> list[Lot]:
    """Return everything that can be given; where nobody can say, whole GPUs are."""
    try:
        offered = offerings(topology)
    except ValueError:  # what the node offers goes on, and whoever cut it so is told elsewhere
        units = tuple(
            Unit(gpu.id, number, healthy=not gpu.fault) for number, gpu in enumerate(topology.gpus)
        )
        offered = (Offering(GPU, units),)
    return [
        _lot(topology, offer, unit)
        for offer in offered
        for _ in range(offer.replicas)
        for unit in offer.units
    ]


def holders(topology: NodeTopology) -> list[tuple[str, AllocatedBy]]:
    """Return who has what: GPUs and slices by id, those that nobody has left out."""
    found: list[tuple[str, AllocatedBy]] = []
    for gpu in topology.gpus:
        found.append((gpu.id, gpu.status.allocated_by))
        found += ((one.id, one.status.allocated_by) for one in gpu.mig or ())
    return [(name, owner) for name, owner in found if owner.pod]


def _lot(topology: NodeTopology, offer: Offering, unit: Unit) -> Lot:
    gpu = topology.gpus[unit.gpu]
    memory_mib, before = topology.gpu_memory, gpu.status
    if unit.slice is not None:
        one = (gpu.mig or ())[unit.slice]
        before = one.status
        memory_mib = geometry_of(topology.gpu_product).profile(one.profile).memory_mib
    return Lot(
        resource=offer.resource,
        id=unit.id,
        place=(unit.gpu, unit.slice),
        memory_mib=memory_mib // offer.replicas,
        sound=unit.healthy,
        shared=offer.replicas > 1,
        before=before,
    )

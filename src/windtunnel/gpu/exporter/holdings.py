"""Who has which GPUs, processors and memory of which zone: pure, so that tables can test it.

Processors and memory have no owners on a fake node; a pod's requests are shared out over the zones
of its GPUs, by their number there. Processors are numbered zone by zone.

Source: fake-gpu-operator 0.2. There every pod gets the first processors of a zone; here no two pods
get the same one as long as there are enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from windtunnel.devices import GPU, NodeTopology, Numa, Offering, offerings, split_gpus
from windtunnel.gpu.exporter.zones import cpu_per_zone
from windtunnel.kinds.pod.requests import container_amounts
from windtunnel.machinery.quantity import Quantity
from windtunnel.machinery.tree import Key, Tree

_MOST_CPUS: Final = 8192
"""No machine has more, whatever its node says."""


@dataclass(frozen=True, slots=True)
class ZoneShare:
    """What one pod has of one zone."""

    zone: int
    gpus: tuple[str, ...]
    cpus: tuple[int, ...]
    memory_bytes: int
    slices: tuple[tuple[str, str], ...] = ()
    """(resource, id) of slices of GPUs."""


@dataclass(frozen=True, slots=True)
class PodDevices:
    """What one pod has, zone by zone."""

    pod: Key
    shares: tuple[ZoneShare, ...]


def apportioned(total: int, weights: Sequence[int]) -> list[int]:
    """Share out whole things by weight; what is left over goes to the largest remainders."""
    whole = sum(weights)
    if whole == 0:
        return [0] * len(weights)
    shares = [total * weight // whole for weight in weights]
    by_rest = sorted(range(len(weights)), key=lambda i: -(total * weights[i] % whole))
    for index in by_rest[: total - sum(shares)]:
        shares[index] += 1
    return shares


def cpus_per_zone(node: Tree, numa: Numa) -> int:
    """Return how many whole processors a zone has, halves rounded up."""
    return min((cpu_per_zone(node, numa).milli + 500) // 1000, _MOST_CPUS)


def holdings(
    topology: NodeTopology, numa: Numa, cpus: int, pod: Callable[[Key], Tree | None]
) -> tuple[PodDevices, ...]:
    """Return what every pod with GPUs has, in the order of their names.

    Args:
        topology: Whose GPUs they are.
        numa: The node's zones, at least one.
        cpus: How many processors each zone has.
        pod: Finds a pod.

    Raises:
        ValueError: the zones contradict the number of GPUs.
    """
    zone_of = [
        zone
        for zone, count in enumerate(split_gpus(numa, len(topology.gpus)))
        for _ in range(count)
    ]
    names = {unit.id: offer.resource for offer in _offered(topology) for unit in offer.units}
    held: dict[Key, dict[int, list[tuple[str, str]]]] = {}
    for zone, gpu in zip(zone_of, topology.gpus, strict=True):
        slices = ((one.id, one.status.allocated_by) for one in gpu.mig or ())
        for name, owner in ((gpu.id, gpu.status.allocated_by), *slices):
            if owner.pod:
                zones = held.setdefault(Key(owner.namespace, owner.pod), {})
                zones.setdefault(zone, []).append((names.get(name, GPU), name))
    free = [list(range(zone * cpus, (zone + 1) * cpus)) for zone in range(numa.zones)]
    return tuple(_holding(key, held[key], free, pod(key)) for key in sorted(held))


def _offered(topology: NodeTopology) -> tuple[Offering, ...]:
    try:
        return offerings(topology)
    except ValueError:
        return ()  # whole GPUs, as before


def _holding(
    key: Key, devices: dict[int, list[tuple[str, str]]], free: list[list[int]], pod: Tree | None
) -> PodDevices:
    amounts = {} if pod is None else container_amounts(pod.get("spec") or {}, "requests")
    zones = sorted(devices)
    weights = [len(devices[zone]) for zone in zones]
    processors = (amounts.get("cpu", Quantity(0)).milli + 500) // 1000
    memory = amounts.get("memory", Quantity(0)).units
    shares = []
    for zone, count, size in zip(
        zones, apportioned(processors, weights), apportioned(memory, weights), strict=True
    ):
        taken, free[zone] = free[zone][:count], free[zone][count:]
        gpus = tuple(name for resource, name in devices[zone] if resource == GPU)
        slices = tuple(one for one in devices[zone] if one[0] != GPU)
        shares.append(ZoneShare(zone, gpus, tuple(taken), size, slices))
    return PodDevices(key, tuple(shares))

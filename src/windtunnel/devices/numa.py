"""How the GPUs, processors and memory of a node lie on its NUMA zones.

Source: fake-gpu-operator 0.2, the ``numa`` block of a pool.
"""

from __future__ import annotations

import msgspec


class Distances(msgspec.Struct, frozen=True):
    """What it costs to reach a zone: from itself, and from any other."""

    self: int = 10
    remote: int = 21


class Numa(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The zones of one pool's nodes; fewer than one means that there are none."""

    zones: int = 0
    gpus_per_zone: tuple[int, ...] = ()
    """Empty: as even as can be, the remainder to the first zones."""
    topology_manager_policy: str = ""
    topology_manager_scope: str = ""
    cpu_per_zone: str = ""
    mem_per_zone: str = ""
    distances: Distances = Distances()


def split_gpus(numa: Numa, count: int) -> tuple[int, ...]:
    """Return how many GPUs each zone has.

    Raises:
        ValueError: the explicit list contradicts the number of zones or of GPUs.
    """
    if numa.zones < 1:
        return ()
    given = numa.gpus_per_zone
    if not given:
        share, rest = divmod(count, numa.zones)
        return tuple(share + (zone < rest) for zone in range(numa.zones))
    if len(given) != numa.zones:
        raise ValueError(f"gpusPerZone has {len(given)} entries but zones is {numa.zones}")
    if sum(given) != count:
        raise ValueError(f"gpusPerZone sums to {sum(given)} but the pool has {count} GPUs")
    return given

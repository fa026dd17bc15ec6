"""How a node's resources lie on its zones: the object that schedulers aware of NUMA read.

Source: NodeResourceTopology v1alpha2, as fake-gpu-operator 0.2 fills it. There ``available`` never
changes; whoever has a scheduler that goes by it wants it live.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from windtunnel.devices import GPU, NodeTopology, Numa, split_gpus
from windtunnel.machinery import quantity
from windtunnel.machinery.quantity import Quantity
from windtunnel.machinery.tree import Tree, dig

RESOURCE: Final = "noderesourcetopologies.topology.node.k8s.io/v1alpha2"
_API_VERSION: Final = "topology.node.k8s.io/v1alpha2"
_POLICY: Final = "single-numa-node"
_SCOPE: Final = "container"
_POLICIES: Final = {
    "single-numa-node": "SingleNUMANode",
    "restricted": "Restricted",
    "best-effort": "BestEffort",
}
_SCOPES: Final = {"container": "ContainerLevel", "pod": "PodLevel"}
_NANOS: Final = 1_000_000_000


def zones_of(node: Tree, topology: NodeTopology, numa: Numa, *, live: bool = False) -> Tree:
    """Return the object for one node.

    Args:
        node: The node.
        topology: Its GPUs.
        numa: Its zones, at least one.
        live: Whether what somebody has counts as not available.

    Raises:
        ValueError: the zones contradict the number of GPUs.
    """
    gpus = split_gpus(numa, len(topology.gpus))
    taken = taken_per_zone(topology, gpus) if live else (0,) * len(gpus)
    policy = numa.topology_manager_policy or _POLICY
    scope = numa.topology_manager_scope or _SCOPE
    known = policy in _POLICIES and scope in _SCOPES
    cpu, memory = cpu_per_zone(node, numa), memory_per_zone(node, numa)
    metadata = node["metadata"]
    owner = {"apiVersion": "v1", "kind": "Node", "name": metadata["name"], "uid": metadata["uid"]}
    return {
        "apiVersion": _API_VERSION,
        "kind": "NodeResourceTopology",
        "metadata": {"name": metadata["name"], "ownerReferences": [owner]},
        "attributes": [
            {"name": "topologyManagerPolicy", "value": policy},
            {"name": "topologyManagerScope", "value": scope},
        ],
        "topologyPolicies": [_POLICIES[policy] + _SCOPES[scope] if known else "None"],
        "zones": [
            {
                "name": f"node-{zone}",
                "type": "Node",
                "costs": _costs(numa, zone),
                "resources": [
                    _amount(GPU, str(count), str(count - taken[zone])),
                    *([_amount("cpu", str(cpu), str(cpu))] if cpu else []),
                    *([_amount("memory", str(memory), str(memory))] if memory else []),
                ],
            }
            for zone, count in enumerate(gpus)
        ],
    }


def cpu_per_zone(node: Tree, numa: Numa) -> Quantity:
    """Return the processors of one zone: as given, or an even share of what is allocatable."""
    if numa.cpu_per_zone:
        return quantity.parse(numa.cpu_per_zone)
    milli = quantity.to_milli(dig(node, "status", "allocatable", "cpu") or 0) // numa.zones
    return Quantity(milli * (_NANOS // 1000))


def memory_per_zone(node: Tree, numa: Numa) -> Quantity:
    """Return the memory of one zone: as given, or an even share of what is allocatable."""
    if numa.mem_per_zone:
        return quantity.parse(numa.mem_per_zone)
    share = quantity.to_int(dig(node, "status", "allocatable", "memory") or 0) // numa.zones
    return Quantity(share * _NANOS, "binary")


def taken_per_zone(topology: NodeTopology, gpus: Sequence[int]) -> tuple[int, ...]:
    """Return how many GPUs of each zone somebody has; a zone's GPUs stand one after the other."""
    held = [bool(gpu.status.allocated_by.pod) for gpu in topology.gpus]
    ends = list(accumulate(gpus))
    return tuple(sum(held[end - count : end]) for end, count in zip(ends, gpus, strict=True))


def _costs(numa: Numa, zone: int) -> list[Tree]:
    distances = numa.distances
    return [
        {"name": f"node-{other}", "value": distances.self if other == zone else distances.remote}
        for other in range(numa.zones)
    ]


def _amount(name: str, capacity: str, available: str) -> Tree:
    return {"name": name, "capacity": capacity, "allocatable": capacity, "available": available}

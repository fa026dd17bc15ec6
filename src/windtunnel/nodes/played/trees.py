"""From the order for a pool to the objects that make it: played nodes and the pool's ConfigMap.

Pure: the command line and a start with ``--nodes`` create what these functions return. A node has
all it will have from birth, its GPUs too; ``gpu.kwok_device_plugin`` writes only what changes
later, or what a node lacks that somebody else made.
"""

from __future__ import annotations

from collections.abc import Iterable

from windtunnel.devices import PLAYED, POOL_LABEL, GpuPool, find_model, pool_document
from windtunnel.machinery.tree import Tree
from windtunnel.nodes.pools import PoolOrder

_CPU_PER_GPU, _CPU_LEAST = 24, 32
_MEMORY_PER_GPU, _MEMORY_LEAST = 192, 128  # GiB; as in common eight-GPU servers


def node_trees(order: PoolOrder, taken: Iterable[str] = ()) -> list[Tree]:
    """Return the nodes of a checked order, named ``<pool>-0``, ``<pool>-1``, … past those taken.

    Args:
        order: What to make.
        taken: Names of nodes that exist already; the numbers go on after the largest.
    """
    first = _next_number(order.name, taken)
    pool = gpu_pool(order)
    return [
        _node(order, pool, f"{order.name}-{number}") for number in range(first, first + order.count)
    ]


def pool_config_map(order: PoolOrder) -> Tree:
    """Return the ConfigMap that says what GPUs the nodes of this order have."""
    return pool_document(order.name, gpu_pool(order))


def gpu_pool(order: PoolOrder) -> GpuPool:
    """Return what each node of this order carries."""
    model = find_model(order.product)
    return GpuPool(
        gpu_product=model.name if model else order.product,
        gpu_count=order.gpus,
        gpu_memory=order.memory_mib or (model.memory_mib if model else 0),
    )


def _node(order: PoolOrder, pool: GpuPool, name: str) -> Tree:
    resources = {
        "cpu": order.cpu or str(max(_CPU_PER_GPU * order.gpus, _CPU_LEAST)),
        "memory": order.memory or f"{max(_MEMORY_PER_GPU * order.gpus, _MEMORY_LEAST)}Gi",
        "ephemeral-storage": "1Ti",
        "pods": "110",
        **pool.capacity(),
    }
    spec: Tree = {}
    if order.taints:
        spec["taints"] = [
            {"key": key, **({"value": value} if value else {}), "effect": effect}
            for key, value, effect in order.taints
        ]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                "beta.kubernetes.io/arch": "amd64",
                "beta.kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "type": "kwok",
                POOL_LABEL: order.name,
                **dict(order.labels),
                **pool.labels(),
            },
            "annotations": {PLAYED: "fake", "node.alpha.kubernetes.io/ttl": "0"},
        },
        "spec": spec,
        "status": {"capacity": resources, "allocatable": dict(resources)},
    }


def _next_number(pool: str, taken: Iterable[str]) -> int:
    numbers = [
        int(tail)
        for name in taken
        for head, _, tail in (name.rpartition("-"),)
        if head == pool and tail.isdecimal() and tail.isascii()
    ]
    return max(numbers, default=-1) + 1

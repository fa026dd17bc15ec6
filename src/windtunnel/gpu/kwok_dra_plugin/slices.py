"""The slices of devices that a node's document comes to.

Source: fake-gpu-operator 0.2; that more GPUs than a slice may hold go
into several is ours.
"""

from __future__ import annotations

from typing import Final

from windtunnel.devices import GPU_DRIVER, NodeTopology, TopologyGpu
from windtunnel.machinery.tree import Tree

_MOST: Final = 128
"""Devices that the API takes in one slice."""
_UNITS: Final = ("Mi", "Gi", "Ti", "Pi")


def slices_of(node: str, topology: NodeTopology) -> list[Tree]:
    """Return the spec of every slice of a node; a node without GPUs has an empty one."""
    devices = [_device(gpu, topology) for gpu in topology.gpus if gpu.id]
    parts = [devices[first : first + _MOST] for first in range(0, len(devices), _MOST)] or [[]]
    pool = {"name": node, "generation": 0, "resourceSliceCount": len(parts)}
    return [
        {
            "driver": GPU_DRIVER,
            "pool": dict(pool),
            "nodeName": node,
            **({"devices": part} if part else {}),
        }
        for part in parts
    ]


def binary(mebibytes: int) -> str:
    """Print an amount of MiB in the largest unit that makes it whole."""
    unit = 0
    while mebibytes and mebibytes % 1024 == 0 and unit < len(_UNITS) - 1:
        mebibytes //= 1024
        unit += 1
    return f"{mebibytes}{_UNITS[unit]}" if mebibytes else "0"


def _device(gpu: TopologyGpu, topology: NodeTopology) -> Tree:
    product = {"string": topology.gpu_product}
    return {
        "name": gpu.id.lower(),
        "attributes": {
            f"{GPU_DRIVER}/productName": product,
            f"{GPU_DRIVER}/type": {"string": "gpu"},
            f"{GPU_DRIVER}/uuid": {"string": gpu.id},
            "model": dict(product),
            "uuid": {"string": gpu.id},
        },
        "capacity": {"memory": {"value": binary(topology.gpu_memory)}},
    }

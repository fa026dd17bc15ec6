"""MIG slices: their names and the ids of the GPU instances that hold them.

Source: fake-gpu-operator 0.2 (``mig-faker``); the ids are those of NVIDIA's profiles.
"""

from __future__ import annotations

from typing import Final

_SLICES: Final[dict[str, dict[str, int]]] = {
    "40GB": {
        "1g.5gb": 19, "1g.5gb+me": 20, "1g.10gb": 15, "2g.10gb": 14,
        "3g.20gb": 9, "4g.20gb": 5, "7g.40gb": 0,
    },
    "80GB": {
        "1g.10gb": 19, "1g.10gb+me": 20, "1g.20gb": 15, "2g.20gb": 14,
        "3g.40gb": 9, "4g.40gb": 5, "7g.80gb": 0,
    },
}  # fmt: skip


def instance_ids(product: str) -> dict[str, int]:
    """Return the slices that a product can be cut into, with the id of each.

    Args:
        product: The value of the label ``nvidia.com/gpu.product``.

    Raises:
        ValueError: no slices are known for it.
    """
    for size, slices in _SLICES.items():
        if size in product:
            return slices
    raise ValueError(f"gpuProduct {product} not supported")


def instance_id(product: str, name: str) -> int:
    """Return the id of the GPU instance that holds a slice.

    Raises:
        ValueError: the product is not known, or has no such slice.
    """
    ids = instance_ids(product)
    if name not in ids:
        raise ValueError(f"failed mapping mig instance name {name} to gpu instance id")
    return ids[name]

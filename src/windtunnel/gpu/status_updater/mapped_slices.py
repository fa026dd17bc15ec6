"""Slices that a node says it was cut into: the mapping that the MIG faker left on it.

The mapping counts slices by position, and need not say where each begins: where their positions are
no places, places are found. Their ids are taken from it, so that whoever reads the mapping and
whoever reads the node's document speak of the same slices.

Source: fake-gpu-operator 0.2, annotation ``MIG_MAPPING``; there nothing comes of it.
"""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from typing import Any

import msgspec

from windtunnel.devices import Geometry, MigInstance, MigProfile, geometry_of, names_of_ids


class _Slice(msgspec.Struct):
    position: int
    device_uuid: str
    gpu_instance_id: int


def mapped_slices(text: str, product: str) -> dict[int, tuple[MigInstance, ...]]:
    """Return the slices of each GPU, by its number.

    Args:
        text: The mapping, as it stands in the annotation.
        product: What is cut.

    Raises:
        ValueError: it cannot be read, or no GPU can be cut so.
    """
    try:
        found: Any = msgspec.json.decode(
            base64.b64decode(text, validate=True), type=dict[int, list[_Slice]], strict=False
        )
    except (binascii.Error, msgspec.DecodeError, msgspec.ValidationError) as error:
        raise ValueError(f"the mapping cannot be read: {error}") from error
    geometry = geometry_of(product)
    return {index: _instances(geometry, slices) for index, slices in found.items()}


def _instances(geometry: Geometry, slices: list[_Slice]) -> tuple[MigInstance, ...]:
    names = names_of_ids(geometry.product, [one.gpu_instance_id for one in slices])
    said: list[tuple[MigProfile, int]] = [
        (geometry.profile(name), one.position) for name, one in zip(names, slices, strict=True)
    ]
    if geometry.holds(said):
        placed = sorted(zip(said, slices, strict=True), key=lambda pair: pair[0][1])
        return tuple(
            MigInstance(one.device_uuid, profile.name, start) for (profile, start), one in placed
        )
    ids: dict[str, list[str]] = {}
    for name, one in sorted(zip(names, slices, strict=True), key=lambda pair: -pair[1].position):
        ids.setdefault(name, []).append(one.device_uuid)
    return tuple(
        MigInstance(ids[profile.name].pop(), profile.name, start)
        for profile, start in geometry.place(Counter(names))
    )

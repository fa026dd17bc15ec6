"""Into which slices each product can be cut, read from ``mig.toml`` beside this module."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Final

import msgspec

from windtunnel.devices.catalogue import find_model, models, product_label
from windtunnel.devices.mig import Geometry, MigProfile

_BY_SIZE: Final = {"40GB": "a100-40", "80GB": "a100"}
"""Products that the catalogue does not know; source: fake-gpu-operator 0.2 (mig-faker)."""


class _Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What slices of one name have in common over products."""

    name: str
    id: int
    compute: int
    starts: tuple[int, ...]
    size: int
    most: int
    memory: int
    """Which of a product's sizes it has."""

    def named(self, gigabytes: int) -> str:
        """Return what NVML calls a slice of it: the size goes before ``+me`` or ``-me``."""
        compute, mark = self.name[:2], self.name[2:]
        return f"{compute}.{gigabytes}gb{mark}"


class _Layout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    compute_slices: int
    memory_slices: int
    shapes: tuple[_Shape, ...]


class _Chip(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the slices of a layout have, shape by shape."""

    layout: str
    multiprocessors: tuple[int, ...]
    engines: tuple[tuple[int, int, int, int, int], ...]


class _Product(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How large slices are: in their names, and in fact."""

    chip: str
    gigabytes: tuple[int, ...]
    mib: tuple[int, ...]


class _Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    layouts: dict[str, _Layout]
    chips: dict[str, _Chip]
    products: dict[str, _Product]


@cache
def _document() -> _Document:
    text = resources.files(__package__).joinpath("mig.toml").read_bytes()
    return msgspec.toml.decode(text, type=_Document)


@cache
def geometry_of(product: str) -> Geometry:
    """Return into what a product can be cut.

    Args:
        product: What NVML or the label ``nvidia.com/gpu.product`` calls it.

    Raises:
        ValueError: it cannot be cut, or is not known.
    """
    document = _document()
    sizes = document.products.get(_key_of(product))
    if sizes is None:
        raise ValueError(f"gpuProduct {product} not supported")
    chip = document.chips[sizes.chip]
    layout = document.layouts[chip.layout]
    profiles = {}
    for shape, multiprocessors, engines in zip(
        layout.shapes, chip.multiprocessors, chip.engines, strict=True
    ):
        name = shape.named(sizes.gigabytes[shape.memory])
        profiles[name] = MigProfile(
            name=name,
            id=shape.id,
            compute=shape.compute,
            starts=shape.starts,
            size=shape.size,
            most=shape.most,
            memory_mib=sizes.mib[shape.memory],
            multiprocessors=multiprocessors,
            engines=engines,
        )
    return Geometry(product, layout.compute_slices, layout.memory_slices, profiles)


def _key_of(product: str) -> str:
    model, label = find_model(product), product_label(product).lower()
    if model is not None:
        return next(key for key, known in models().items() if known is model)
    longest = sorted(models().items(), key=lambda item: -len(item[1].label))
    for key, known in longest:
        if known.mig and label.startswith(known.label.lower()):
            return key
    return next((key for size, key in _BY_SIZE.items() if size in product), "")


def instance_id(product: str, name: str) -> int:
    """Return the id of the GPU instance profile of a slice, in the words of the original.

    Raises:
        ValueError: the product is not known, or has no such slice.
    """
    profile = geometry_of(product).profiles.get(name)
    if profile is None:
        raise ValueError(f"failed mapping mig instance name {name} to gpu instance id")
    return profile.id


def names_of_ids(product: str, ids: Iterable[int]) -> list[str]:
    """Return the slices that GPU instance profiles stand for.

    Raises:
        ValueError: the product is not known, or has no such profile.
    """
    by_id = {profile.id: profile.name for profile in geometry_of(product).profiles.values()}
    found = list(ids)
    for one in found:
        if one not in by_id:
            raise ValueError(f"{product} has no MIG profile with the id {one}")
    return [by_id[one] for one in found]

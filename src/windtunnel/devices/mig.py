"""MIG: into which slices GPUs can be cut, and which sets of slices fit into one of them.

A slice takes a run of a GPU's memory slices that begins at one of few places; a set of slices fits
where no two runs meet and there are compute slices enough. Which places a driver would choose is
not public: here the largest slices come first, and each takes the first place that leaves room for
the rest, so that a set is refused only if it cannot be had at all.

Source: NVIDIA's MIG user guide and NVML; ids are those of GPU instance profiles in nvidia-smi.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from windtunnel.devices.catalogue import find_model, models, product_label

_NAMESPACE: Final = uuid.UUID(int=0)


@dataclass(frozen=True, slots=True)
class MigProfile:
    """One sort of slice of one product."""

    name: str
    """What NVML calls it: ``1g.5gb``, ``1g.5gb+me``."""
    id: int
    """The id of its GPU instance profile."""
    compute: int
    """Compute slices."""
    starts: tuple[int, ...]
    """At which memory slices it may begin."""
    size: int
    """Memory slices."""
    most: int
    """How many of it one GPU holds."""
    memory_mib: int
    multiprocessors: int
    engines: tuple[int, int, int, int, int]
    """Copy, decoder, encoder, jpeg, ofa."""

    @property
    def resource(self) -> str:
        """The extended resource under which the mixed strategy offers it."""
        return f"nvidia.com/mig-{self.label}"

    @property
    def label(self) -> str:
        """Its name where names of Kubernetes go; these hold no ``+``."""
        return self.name.replace("+", ".")

    @property
    def has_media_engines(self) -> bool:
        """Whether it takes the media engines, which only one slice of a GPU can have."""
        return "+me" in self.name


@dataclass(frozen=True, slots=True)
class Geometry:
    """Into what one product can be cut."""

    product: str
    compute_slices: int
    memory_slices: int
    profiles: Mapping[str, MigProfile]

    def profile(self, name: str) -> MigProfile:
        """Return a sort of slice.

        Raises:
            ValueError: this product has no such slices.
        """
        found = self.profiles.get(name) or self.profiles.get(name.replace(".me", "+me"))
        if found is None:
            known = ", ".join(self.profiles)
            raise ValueError(f"{self.product} has no MIG profile {name}; it has {known}")
        return found

    def place(self, wishes: Mapping[str, int]) -> tuple[tuple[MigProfile, int], ...]:
        """Return where each slice of a GPU begins, in the order of their places.

        Args:
            wishes: How many of each slice, by name.

        Raises:
            ValueError: there is no such slice, or they do not fit together.
        """
        if any(count < 0 for count in wishes.values()):
            raise ValueError(f"{_told(wishes)}: a number of MIG devices is below 0")
        if sum(wishes.values()) > self.compute_slices:
            raise ValueError(f"{_told(wishes)} do not fit into one {self.product}")
        wanted = [self.profile(name) for name, count in wishes.items() for _ in range(count)]
        wanted.sort(key=lambda profile: (-profile.size, -profile.compute, profile.id))
        found = self._fit(wanted, ()) if self._is_enough(wanted) else None
        if found is None:
            raise ValueError(f"{_told(wishes)} do not fit into one {self.product}")
        return tuple(sorted(found, key=lambda placed: placed[1]))

    def holds(self, placed: Sequence[tuple[MigProfile, int]]) -> bool:
        """Say whether slices can lie where they are said to lie."""
        taken = [number for profile, start in placed for number in _run(profile, start)]
        return (
            len(set(taken)) == len(taken)
            and all(start in profile.starts for profile, start in placed)
            and self._is_enough([profile for profile, _ in placed])
        )

    def _is_enough(self, wanted: Sequence[MigProfile]) -> bool:
        """Count what is not bound to a place."""
        return (
            sum(profile.compute for profile in wanted) <= self.compute_slices
            and sum(profile.has_media_engines for profile in wanted) <= 1
            and all(count <= profile.most for profile, count in Counter(wanted).items())
        )

    def _fit(
        self, wanted: Sequence[MigProfile], placed: tuple[tuple[MigProfile, int], ...]
    ) -> tuple[tuple[MigProfile, int], ...] | None:
        if not wanted:
            return placed
        taken = {number for profile, start in placed for number in _run(profile, start)}
        first, rest = wanted[0], wanted[1:]
        for start in first.starts:
            if taken.isdisjoint(_run(first, start)):
                found = self._fit(rest, (*placed, (first, start)))
                if found is not None:
                    return found
        return None


def _run(profile: MigProfile, start: int) -> range:
    return range(start, start + profile.size)


def _told(wishes: Mapping[str, int]) -> str:
    return " + ".join(f"{count} x {name}" for name, count in wishes.items()) or "nothing"


@dataclass(frozen=True, slots=True)
class _Shape:
    """What slices of one name have in common over products; ``memory`` is a column of names."""

    name: str
    id: int
    compute: int
    starts: tuple[int, ...]
    size: int
    most: int
    memory: int


_SEVEN: Final = (
    _Shape("1g", 19, 1, (0, 1, 2, 3, 4, 5, 6), 1, 7, 0),
    _Shape("1g+me", 20, 1, (0, 1, 2, 3, 4, 5, 6), 1, 1, 0),
    _Shape("1g", 15, 1, (0, 2, 4, 6), 2, 4, 1),
    _Shape("2g", 14, 2, (0, 2, 4), 2, 3, 1),
    _Shape("3g", 9, 3, (0, 4), 4, 2, 2),
    _Shape("4g", 5, 4, (0,), 4, 1, 3),
    _Shape("7g", 0, 7, (0,), 8, 1, 4),
)  # fmt: skip
_FOUR: Final = (
    _Shape("1g", 14, 1, (0, 1, 2, 3), 1, 4, 0),
    _Shape("1g+me", 21, 1, (0, 1, 2, 3), 1, 1, 0),
    _Shape("2g", 5, 2, (0, 2), 2, 2, 1),
    _Shape("2g+me", 6, 2, (0, 2), 2, 1, 1),
    _Shape("4g", 0, 4, (0,), 4, 1, 2),
)
_TWELVE: Final = (
    _Shape("1g", 14, 1, (0, 3, 6, 9), 3, 4, 0),
    _Shape("1g+me", 21, 1, (0, 3, 6, 9), 3, 1, 0),
    _Shape("1g+gfx", 47, 1, (0, 3, 6, 9), 3, 4, 0),
    _Shape("1g+me.all", 65, 1, (0, 3, 6, 9), 3, 1, 0),
    _Shape("1g-me", 67, 1, (0, 3, 6, 9), 3, 4, 0),
    _Shape("2g", 5, 2, (0, 6), 6, 2, 1),
    _Shape("2g+gfx", 35, 2, (0, 6), 6, 2, 1),
    _Shape("2g+me.all", 64, 2, (0, 6), 6, 1, 1),
    _Shape("2g-me", 66, 2, (0, 6), 6, 2, 1),
    _Shape("4g", 0, 4, (0,), 12, 1, 2),
    _Shape("4g+gfx", 32, 4, (0,), 12, 1, 2),
)

Engines = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class _Sizes:
    """What differs from product to product, column by column or shape by shape."""

    gigabytes: tuple[int, ...]
    """In the names."""
    mib: tuple[int, ...]
    multiprocessors: tuple[int, ...]
    engines: tuple[Engines, ...]


_AMPERE: Final[tuple[Engines, ...]] = (
    (1, 0, 0, 0, 0), (1, 1, 0, 1, 1), (1, 1, 0, 0, 0), (2, 1, 0, 0, 0), (3, 2, 0, 0, 0),
    (4, 2, 0, 0, 0), (7, 5, 0, 1, 1),
)  # fmt: skip
_HOPPER: Final[tuple[Engines, ...]] = (
    (1, 1, 0, 1, 0), (1, 1, 0, 1, 1), (1, 1, 0, 1, 0), (2, 2, 0, 2, 0), (3, 3, 0, 3, 0),
    (4, 4, 0, 4, 0), (8, 7, 0, 7, 1),
)  # fmt: skip
_BLACKWELL: Final[tuple[Engines, ...]] = (
    (2, 1, 0, 1, 0), (2, 1, 0, 1, 1), (2, 1, 0, 1, 0), (3, 2, 0, 2, 0), (6, 3, 0, 3, 0),
    (8, 4, 0, 4, 0), (16, 7, 0, 7, 1),
)  # fmt: skip
_A100_SM: Final = (14, 14, 14, 28, 42, 56, 98)
_H100_SM: Final = (16, 16, 26, 32, 60, 64, 132)
_B200_SM: Final = (18, 18, 30, 36, 70, 72, 148)

_A100_40: Final = _Sizes((5, 10, 20, 20, 40), (4864, 9856, 19968, 19968, 40192), _A100_SM, _AMPERE)
_A100_80: Final = _Sizes(
    (10, 20, 40, 40, 80), (9728, 19968, 40192, 40192, 80384), _A100_SM, _AMPERE
)
_H100_80: Final = _Sizes(
    (10, 20, 40, 40, 80), (9984, 20096, 40448, 40448, 81152), _H100_SM, _HOPPER
)
_94_AND_96: Final = (11776, 23552, 47104, 47104, 94208)

_SEVEN_SLICES: Final[dict[str, _Sizes]] = {
    "a100-40": _A100_40,
    "a100-40-pcie": _A100_40,
    "a100": _A100_80,
    "a100-80-pcie": _A100_80,
    "h100": _H100_80,
    "h100-pcie": _H100_80,
    "h100-nvl": _Sizes((12, 24, 47, 47, 94), _94_AND_96, _H100_SM, _HOPPER),
    "h20": _Sizes((12, 24, 48, 48, 96), _94_AND_96, _H100_SM, _HOPPER),
    "gh200": _Sizes((12, 24, 48, 48, 96), _94_AND_96, _H100_SM, _HOPPER),
    "h200": _Sizes(
        (18, 35, 71, 71, 141), (16384, 33280, 71168, 71168, 143360), _H100_SM, _HOPPER
    ),
    "b200": _Sizes(
        (23, 45, 90, 90, 180), (22528, 45056, 90112, 90112, 180224), _B200_SM, _BLACKWELL
    ),
    "b300": _Sizes(
        (34, 67, 135, 135, 269), (33792, 67584, 135168, 135168, 270336), _B200_SM, _BLACKWELL
    ),
    "gb200": _Sizes(
        (23, 47, 93, 93, 186), (23296, 46592, 93184, 93184, 186368), _B200_SM, _BLACKWELL
    ),
    "gb300": _Sizes(
        (35, 70, 139, 139, 278), (34816, 69632, 139264, 139264, 278528), _B200_SM, _BLACKWELL
    ),
}  # fmt: skip
"""Whole GiB of Blackwell and of 94 and 96 GB are by pattern: no list of them is public."""
_A30: Final = _Sizes(
    (6, 12, 24),
    (5952, 11968, 24000),
    (14, 14, 28, 28, 56),
    ((1, 1, 0, 0, 0), (1, 1, 0, 1, 1), (2, 2, 0, 0, 0), (2, 2, 0, 1, 1), (4, 4, 0, 1, 1)),
)
_RTX_PRO: Final = _Sizes(
    (24, 48, 96),
    (24192, 48512, 97280),
    (46, 46, 46, 46, 46, 94, 94, 94, 94, 188, 188),
    (
        (1, 1, 1, 1, 0), (1, 1, 1, 1, 1), (1, 1, 1, 1, 0), (1, 4, 4, 4, 1), (1, 0, 0, 0, 0),
        (2, 2, 2, 2, 0), (2, 2, 2, 2, 0), (2, 4, 4, 4, 1), (2, 0, 0, 0, 0),
        (4, 4, 4, 4, 1), (4, 4, 4, 4, 1),
    ),
)  # fmt: skip
_BY_SIZE: Final = {"40GB": "a100-40", "80GB": "a100"}
"""Products that the catalogue does not know; source: fake-gpu-operator 0.2 (mig-faker)."""


@cache
def geometry_of(product: str) -> Geometry:
    """Return into what a product can be cut.

    Args:
        product: What NVML or the label ``nvidia.com/gpu.product`` calls it.

    Raises:
        ValueError: it cannot be cut, or is not known.
    """
    key = _key_of(product)
    if key in _SEVEN_SLICES:
        return _geometry(product, _SEVEN, _SEVEN_SLICES[key], 7, 8)
    if key == "a30":
        return _geometry(product, _FOUR, _A30, 4, 4)
    if key == "rtx-pro-6000":
        return _geometry(product, _TWELVE, _RTX_PRO, 4, 12)
    raise ValueError(f"gpuProduct {product} not supported")


def _key_of(product: str) -> str:
    model, label = find_model(product), product_label(product).lower()
    if model is not None:
        return next(key for key, known in models().items() if known is model)
    longest = sorted(models().items(), key=lambda item: -len(item[1].label))
    for key, known in longest:
        if known.mig and label.startswith(known.label.lower()):
            return key
    return next((key for size, key in _BY_SIZE.items() if size in product), "")


def _geometry(
    product: str, shapes: Sequence[_Shape], sizes: _Sizes, compute: int, memory: int
) -> Geometry:
    profiles = {}
    for number, shape in enumerate(shapes):
        size, mark, more = shape.name.partition("+")
        if not mark:
            size, mark, more = shape.name.partition("-")
        name = f"{size}.{sizes.gigabytes[shape.memory]}gb{mark}{more}"
        profiles[name] = MigProfile(
            name=name,
            id=shape.id,
            compute=shape.compute,
            starts=shape.starts,
            size=shape.size,
            most=shape.most,
            memory_mib=sizes.mib[shape.memory],
            multiprocessors=sizes.multiprocessors[number],
            engines=sizes.engines[number],
        )
    return Geometry(product, compute, memory, profiles)


def gpu_instance_id(geometry: Geometry, profile: MigProfile, start: int) -> int:
    """Return the id of the GPU instance that begins at a place, as drivers number them.

    They count like a heap: the whole GPU is 0, its halves 1 and 2, quarters 3 to 6, and so on.
    """
    parts = 1
    while parts * 2 * profile.size <= geometry.memory_slices:
        parts *= 2
    return parts - 1 + start * parts // geometry.memory_slices


def slice_id(node: str, gpu: int, position: int, name: str) -> str:
    """Return the UUID of a slice; the same slice at the same place always has the same.

    Readers expect a random one by its version; nobody can tell how it was made.
    """
    identity = uuid.uuid5(_NAMESPACE, f"{node}-{gpu}-{position}-{name}")
    return f"MIG-{uuid.UUID(bytes=identity.bytes, version=4)}"


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

"""MIG: what slices of a GPU are, and which sets of slices fit into one.

A slice takes a run of a GPU's memory slices that begins at one of few places; a set of slices fits
where no two runs meet and there are compute slices enough. Which places a driver would choose is
not public: here the largest slices come first, and each takes the first place that leaves room for
the rest, so that a set is refused only if it cannot be had at all.

Source: NVIDIA's MIG user guide and NVML; ids are those of GPU instance profiles in nvidia-smi.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

_NAMESPACE: Final = uuid.UUID(int=0)

MIG_MAPPING: Final = "run.ai/mig-mapping"
"""The annotation of a node by which the MIG faker says how its GPUs are cut."""


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

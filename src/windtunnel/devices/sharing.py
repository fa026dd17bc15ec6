"""Sharing: one GPU, or one slice of one, offered several times over.

Written as the configuration of NVIDIA's device plugin has it, by time slicing or by MPS. A name
for one resource and a choice of devices may be written; as there, only ``renameByDefault`` has an
effect.

Source: NVIDIA's device plugin 0.20, section ``sharing`` of its configuration.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

_PREFIX: Final = "nvidia.com/"
_SUFFIX: Final = ".shared"
_FEWEST: Final = 2
_LONGEST_NAME: Final = 63


class SharedResource(msgspec.Struct, frozen=True, omit_defaults=True):
    """One resource, and how many of each of its devices are offered."""

    name: str = ""
    replicas: int | None = None
    rename: str = ""
    devices: Any = None


class Replication(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Which resources are replicated, and what may be asked of them."""

    resources: tuple[SharedResource, ...] = ()
    rename_by_default: bool = False
    fail_requests_greater_than_one: bool | None = None
    """None where it is left out: then MPS refuses, time slicing does not."""


class Sharing(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """How the GPUs of a node are shared."""

    time_slicing: Replication | None = None
    mps: Replication | None = None

    @property
    def strategy(self) -> str:
        """What the label ``nvidia.com/gpu.sharing-strategy`` says."""
        if self.mps is not None:
            return "mps"
        return "none" if self.time_slicing is None else "time-slicing"

    @property
    def replication(self) -> Replication:
        """The one that counts where both are written."""
        return self.mps or self.time_slicing or Replication()

    @property
    def refuses_more_than_one(self) -> bool:
        """Whether a container may have one of a replicated resource only."""
        said = self.replication.fail_requests_greater_than_one
        return self.mps is not None if said is None else said

    def replicas(self, resource: str) -> int:
        """Return how often each device of a resource is offered; 1 where it is not shared."""
        for shared in self.replication.resources:
            if _full(shared.name) == resource:
                return shared.replicas or 1
        return 1

    def offered_name(self, resource: str) -> str:
        """Return the name under which a resource is offered."""
        if self.replicas(resource) > 1 and self.replication.rename_by_default:
            return resource + _SUFFIX
        return resource


def check_sharing(sharing: Sharing) -> None:
    """Check what the form alone does not say.

    Raises:
        ValueError: in the words of NVIDIA's device plugin.
    """
    for replication in (sharing.time_slicing, sharing.mps):
        if replication is None:
            continue
        if not replication.resources:
            raise ValueError("no resources specified")
        for shared in replication.resources:
            if not shared.name:
                raise ValueError("no resource name specified")
            if shared.replicas is None:
                raise ValueError("no replicas specified")
            if shared.replicas < _FEWEST:
                raise ValueError("number of replicas must be >= 2")
            if len(_full(shared.name)) > _LONGEST_NAME:
                raise ValueError(f"resource name {shared.name} is longer than 63 characters")


def _full(name: str) -> str:
    return name if "/" in name else _PREFIX + name

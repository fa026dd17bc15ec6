"""A stored version: the bytes that clients get, and the few columns that are asked for often."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import force_setattr

from windtunnel.machinery.tree import Key, Tree, decode

VersionType = Literal["ADDED", "MODIFIED", "DELETED"]


class Version(Struct, frozen=True, gc=False):
    """One state of one object. A DELETED version carries the last state, with its own revision.

    A struct that the collector of garbage passes over, for there are many of them, and no circle.
    """

    resource: str
    """The stored resource's name (``Kind.store``)."""
    key: Key
    revision: int
    type: VersionType
    body: bytes
    """JSON, with metadata.resourceVersion equal to ``revision``."""
    uid: str
    labels: dict[str, str]
    fields: dict[str, str]
    """Values for field selectors (``Rules.selectable``)."""
    created: int
    """Revision at which the object was created."""
    previous: Version | None = None
    """The state before; None for ADDED, and once the version has left the recent history."""

    def tree(self) -> Tree:
        """Decode the object; the caller owns the tree."""
        tree: Tree = decode(self.body)
        return tree


Versions = list[Version]


def forget_previous(version: Version) -> None:
    """Let go of the state before, so that a live object does not hold its whole past in memory."""
    force_setattr(version, "previous", None)

"""One change of one object: what a watch delivers, and what everything in motion is fed with."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from windtunnel.machinery.tree import Key, Tree, decode

ChangeType = Literal["ADDED", "MODIFIED", "DELETED", "SYNCED"]


class Change(Struct, frozen=True, gc=False):
    """One change of one object. A struct, for one is made at every write.

    ``body`` is the object's JSON (for DELETED: its last state). ``SYNCED`` has no object: it says
    that everything which existed when the watch began has been delivered.
    """

    type: ChangeType
    key: Key
    revision: int
    body: bytes

    def tree(self) -> Tree:
        """Decode the object; the caller owns the tree."""
        tree: Tree = decode(self.body)
        return tree

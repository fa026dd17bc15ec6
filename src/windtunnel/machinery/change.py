"""One change of one object: what a watch delivers, and what everything in motion is fed with.

Within one process a change is delivered inside the write, while the writer still has the object as
a tree. Who reads that instead of the JSON pays for the fields it looks at and not for those it
skips: half for a pod, of which each write is read by three, and texts are shared.
"""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar

import msgspec
from msgspec import Struct, inspect
from msgspec.structs import replace

from windtunnel.machinery.tree import Key, Tree, decode, encode

ChangeType = Literal["ADDED", "MODIFIED", "DELETED", "SYNCED"]
V = TypeVar("V")


class Change(Struct, frozen=True, gc=False):
    """One change of one object. A struct, for one is made at every write.

    ``body`` is the object's JSON (for DELETED: its last state). ``SYNCED`` has no object: it says
    that everything which existed when the watch began has been delivered.
    """

    type: ChangeType
    key: Key
    revision: int
    body: bytes
    at_hand: Tree | None = None
    """The same object as a tree, if the writer has it: to be read while the change is delivered,
    and neither changed nor kept."""

    def kept(self) -> Change:
        """Return the change for somebody who reads it later."""
        return self if self.at_hand is None else replace(self, at_hand=None)

    def tree(self) -> Tree:
        """Decode the object; the caller owns the tree."""
        tree: Tree = decode(self.body)
        return tree


class Loose(dict[str, Any]):
    """A part of a view that has no type: a tree of the view's own."""


class ViewReader(Generic[V]):
    """Reads the objects of changes as one type, which names the fields that matter."""

    def __init__(self, type_: Any, *, fleeting: bool = False) -> None:
        """Read as ``type_``, anything that msgspec decodes.

        Args:
            type_: A type that has raw JSON in it is decoded always; so is one with parts of any
                type, unless they are ``Loose``, for the writer may change those later.
            fleeting: What comes out is neither changed nor kept, so that nothing of it need be
                its own.
        """
        self._type = type_
        self._decoder = msgspec.json.Decoder(type_, dec_hook=_loosen)
        self._converts = _has_types(inspect.type_info(type_), any_too=fleeting)

    def read(self, change: Change) -> V:
        """Return the view of a change's object.

        Raises:
            ValidationError: It is not of the type.
        """
        if self._converts and change.at_hand is not None:
            view: V = msgspec.convert(change.at_hand, self._type, dec_hook=_loosen)
            return view
        return self.decode(change.body)

    def decode(self, body: bytes) -> V:
        """Return the view of an object's JSON.

        Raises:
            DecodeError: It is not of the type.
        """
        view: V = self._decoder.decode(body)
        return view


def _loosen(_: type, part: Any) -> Loose:
    """Make a part's own tree; that of the writer is his."""
    return Loose(decode(encode(part)))


def _has_types(found: inspect.Type, *, any_too: bool) -> bool:
    """Say whether a conversion makes everything in a type anew (or may share what is of any)."""
    match found:
        case inspect.AnyType():
            return any_too
        case inspect.RawType():
            return False
        case inspect.UnionType(types=parts):
            return all(_has_types(each, any_too=any_too) for each in parts)
        case inspect.StructType(fields=fields) | inspect.TypedDictType(fields=fields):
            return all(_has_types(each.type, any_too=any_too) for each in fields)
        case inspect.DictType(value_type=part) | inspect.CollectionType(item_type=part):
            return _has_types(part, any_too=any_too)
    return True

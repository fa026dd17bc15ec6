"""Plain trees: the one shape in which API objects travel between parts.

A tree is what a JSON decoder makes: dicts, lists, strings, numbers, booleans and None. Whoever
decodes a tree owns it and may change it; a tree that was handed in is changed only where a
function's docstring says so. Stored objects are bytes, so nobody ever needs a deep copy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

Tree = dict[str, Any]
"""One API object, or a part of one."""


class Key(NamedTuple):
    """Names one object of a resource; ``namespace`` is "" for cluster-scoped resources."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


_decoder = msgspec.json.Decoder()
_encoder = msgspec.json.Encoder()


def decode(body: bytes | str) -> Any:
    """Return the tree that ``body`` spells; the caller owns it.

    Raises:
        ValueError: ``body`` is not JSON (``msgspec.DecodeError`` is a ValueError).
    """
    return _decoder.decode(body)


def encode(tree: Any) -> bytes:
    """Return the compact JSON of ``tree``, keys in insertion order."""
    return _encoder.encode(tree)


def dig(tree: Any, *path: str | int) -> Any:
    """Return the value at ``path``, or None where any part of the way is missing."""
    for step in path:
        if isinstance(tree, dict):
            tree = tree.get(step)
        elif isinstance(tree, list) and isinstance(step, int) and -len(tree) <= step < len(tree):
            tree = tree[step]
        else:
            return None
    return tree


def key_of(tree: Tree) -> Key:
    """Return the key written in the object's metadata."""
    metadata = tree.get("metadata") or {}
    return Key(metadata.get("namespace") or "", metadata.get("name") or "")

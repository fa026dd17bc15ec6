"""From the bytes of a request body to the tree that the same object has in JSON.

A body is four magic bytes and an envelope (``Unknown``) that names the kind and holds the message.
A message is read field by field as the table says. Writers send every scalar that is no pointer,
zero or not; JSON leaves out the zeros of omitempty fields, so they are dropped here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final, NamedTuple

from windtunnel.machinery.errors import BadRequest
from windtunnel.machinery.protobuf import wire
from windtunnel.machinery.protobuf.table import message_of, messages
from windtunnel.machinery.protobuf.values import SCALARS, SPECIALS, as_bytes, as_text
from windtunnel.machinery.tree import Tree

MAGIC: Final = b"k8s\x00"
_DEEPEST: Final = 100
"""How many messages may lie inside each other; schemas in definitions nest deep."""

_Read = Callable[[int | bytes, int], Any]
"""(value, depth) -> the value as JSON has it."""


class _Field(NamedTuple):
    """How one field is read."""

    name: str
    read: _Read
    shape: str
    """single, list, map, or inline: its fields are its parent's."""
    drops_zero: bool


def decode_protobuf(body: bytes) -> tuple[str, str, Tree]:
    """Return (apiVersion, kind, object) of a protobuf body.

    Raises:
        BadRequest: The bytes are no such body, or of a kind that has no protobuf form.
    """
    if not body.startswith(MAGIC):
        raise BadRequest(
            "the body is marked as protobuf but does not begin with the bytes 6b 38 73 00"
        )
    try:
        envelope = _single(body[len(MAGIC) :])
        names = _single(as_bytes(envelope.get(1, b"")))
        api_version = as_text(names.get(1, b""))
        kind = as_text(names.get(2, b""))
        message = message_of(api_version, kind)
        if message is None:
            raise BadRequest(
                f'no kind "{kind}" is registered for version "{api_version}" in protobuf form'
            )
        tree = _message(message, as_bytes(envelope.get(2, b"")), 0)
    except wire.Malformed as mistake:
        raise BadRequest(f"the protobuf body cannot be read: {mistake}") from None
    return api_version, kind, {"apiVersion": api_version, "kind": kind, **tree}


def _single(body: bytes) -> dict[int, int | bytes]:
    """Read a message whose fields all occur once; the last one counts."""
    return dict(wire.fields(body))


@cache
def _plan(message: str) -> dict[int, _Field]:
    return {int(number): _field(fact) for number, fact in messages()[message].items()}


def _field(fact: dict[str, Any]) -> _Field:
    kind: str = fact["t"]
    if kind.startswith("map:"):
        return _Field(fact["n"], _entry_reader(kind[4:]), "map", False)
    shape = "list" if fact.get("r") else "inline" if fact.get("i") else "single"
    drops_zero = bool(fact.get("oe")) and not fact.get("p")
    return _Field(fact["n"], _reader(kind), shape, drops_zero)


def _reader(kind: str) -> _Read:
    scalar = SCALARS.get(kind)
    if scalar is not None:
        return lambda raw, _: scalar(raw)
    special = SPECIALS.get(kind)
    if special is not None:
        return lambda raw, depth: special(
            as_bytes(raw), lambda name, body: _message(name, body, depth + 1)
        )
    return lambda raw, depth: _message(kind, as_bytes(raw), depth + 1)


def _entry_reader(kind: str) -> _Read:
    read = _reader(kind)
    absent: int | bytes = 0 if kind in SCALARS and kind not in ("string", "bytes") else b""

    def entry(raw: int | bytes, depth: int) -> tuple[str, Any]:
        parts = _single(as_bytes(raw))
        return as_text(parts.get(1, b"")), read(parts.get(2, absent), depth)

    return entry


def _message(name: str, body: bytes, depth: int) -> Tree:
    if depth > _DEEPEST:
        raise wire.Malformed(f"more than {_DEEPEST} messages lie inside each other")
    plan = _plan(name)
    tree: Tree = {}
    for number, raw in wire.fields(body):
        field = plan.get(number)
        if field is None:
            continue
        value = field.read(raw, depth)
        if field.shape == "single":
            if value or value.__class__ is dict or not (field.drops_zero or value is None):
                tree[field.name] = value
        elif field.shape == "list":
            tree.setdefault(field.name, []).append(value)
        elif field.shape == "map":
            tree.setdefault(field.name, {})[value[0]] = value[1]
        else:
            tree.update(value)
    return tree

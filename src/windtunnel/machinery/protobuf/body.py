"""From the bytes of a request body to the tree that the same object has in JSON.

A body is four magic bytes and an envelope (``Unknown``) that names the kind and holds the message.
A message is read field by field as the table says. Writers send every scalar that is no pointer,
zero or not; JSON leaves out the zeros of omitempty fields, so they are dropped here.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.machinery.errors import BadRequest
from windtunnel.machinery.protobuf import wire
from windtunnel.machinery.protobuf.table import message_of, messages
from windtunnel.machinery.protobuf.values import SCALARS, SPECIALS, Reader, as_bytes, as_text
from windtunnel.machinery.tree import Tree

MAGIC: Final = b"k8s\x00"
_DEEPEST: Final = 200
"""How many messages may lie inside each other; schemas in definitions nest deep."""


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
            raise BadRequest(_unregistered(api_version, kind))
        tree = _message(message, as_bytes(envelope.get(2, b"")), 0)
    except wire.Malformed as mistake:
        raise BadRequest(f"the protobuf body cannot be read: {mistake}") from None
    return api_version, kind, {"apiVersion": api_version, "kind": kind, **tree}


def _unregistered(api_version: str, kind: str) -> str:
    return f'no kind "{kind}" is registered for version "{api_version}" in protobuf form'


def _single(body: bytes) -> dict[int, int | bytes]:
    """Read a message whose fields all occur once; the last one counts."""
    return {number: value for number, _, value in wire.fields(body)}


def _message(name: str, body: bytes, depth: int) -> Tree:
    if depth > _DEEPEST:
        raise wire.Malformed(f"more than {_DEEPEST} messages lie inside each other")
    facts = messages()[name]
    tree: Tree = {}
    for number, _, raw in wire.fields(body):
        fact = facts.get(str(number))
        if fact is None:
            continue
        field, kind = fact["n"], fact["t"]
        if kind.startswith("map:"):
            key, value = _entry(kind[4:], as_bytes(raw), depth)
            tree.setdefault(field, {})[key] = value
        elif fact.get("r"):
            tree.setdefault(field, []).append(_value(kind, raw, depth))
        elif fact.get("i"):
            tree.update(_message(kind, as_bytes(raw), depth + 1))
        else:
            value = _value(kind, raw, depth)
            empty = value is None or (not value and value.__class__ is not dict)
            if not (empty and fact.get("oe") and not (fact.get("p") and value is not None)):
                tree[field] = value
    return tree


def _entry(kind: str, body: bytes, depth: int) -> tuple[str, Any]:
    parts = _single(body)
    absent: int | bytes = 0 if kind in SCALARS and kind not in ("string", "bytes") else b""
    return as_text(parts.get(1, b"")), _value(kind, parts.get(2, absent), depth)


def _value(kind: str, raw: int | bytes, depth: int) -> Any:
    scalar: Reader | None = SCALARS.get(kind)
    if scalar is not None:
        return scalar(raw)
    special = SPECIALS.get(kind)
    if special is not None:
        return special(as_bytes(raw), lambda name, body: _message(name, body, depth + 1))
    return _message(kind, as_bytes(raw), depth + 1)

"""Annotations whose value is JSON: what Go reads in them, and its words for what it cannot read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from windtunnel.machinery.tree import Tree, decode

_KINDS: Final = {str: "string", bool: "bool", list: "array", dict: "object"}


class UnreadableError(Exception):
    """Carries Go's words for a text that is not the JSON it should be."""


def read_json(text: str) -> Any:
    """Return the value, or raise Go's words for the two commonest sorts of broken JSON."""
    try:
        return decode(text.encode())
    except ValueError:
        start = text.lstrip()
    if not start or start[0] in "{[":
        raise UnreadableError("unexpected end of JSON input")
    raise UnreadableError(f"invalid character '{start[0]}' looking for beginning of value")


def mistaken(value: Any, target: str) -> UnreadableError:
    """Return Go's words for a value of another type than ``target``."""
    kind = _KINDS.get(type(value), "number")
    return UnreadableError(f"json: cannot unmarshal {kind} into Go {target}")


def read_list(text: str, name: str, fields: Mapping[str, type]) -> list[Tree]:
    """Return a list of internal structs called ``name``; fields match in any case."""
    value = read_json(text)
    if value is None:
        return []
    if not isinstance(value, list):
        raise mistaken(value, f"value of type []core.{name}")
    return [_struct(item, name, fields) for item in value]


def _struct(item: Any, name: str, fields: Mapping[str, type]) -> Tree:
    if item is None:
        return {}
    if not isinstance(item, dict):
        raise mistaken(item, f"value of type core.{name}")
    known = {field.lower(): field for field in fields}
    found: Tree = {}
    for key, value in item.items():
        field = known.get(key.lower())
        if field is None or value is None:
            continue
        if type(value) is not fields[field]:
            go = "string" if fields[field] is str else "int64"
            shown = field[:1].upper() + field[1:]
            raise mistaken(value, f"struct field {name}.{shown} of type {go}")
        found[field] = value
    return found

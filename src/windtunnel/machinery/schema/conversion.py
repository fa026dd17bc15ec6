"""Reading a typed object from a tree instead of a text, in the words of Go's converter.

Strategic merge patches and server-side apply work on trees, and their result is converted, not
decoded: the same mistakes are called by other names than in ``decoding``, and the first one met
ends it.

Source: k8s.io/apimachinery runtime converter, v1.36.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from windtunnel.machinery.schema.decoding import CLEAN, Findings, type_text
from windtunnel.machinery.schema.settling import Odd, settler
from windtunnel.machinery.schema.structure import Structure
from windtunnel.machinery.schema.values import (
    INTEGER_LIMITS,
    Unreadable,
    canonical_micro_time,
    canonical_time,
    checked_base64,
    go_kind,
    settled_quantity,
)

_RESTORED: Final[dict[str, tuple[type, str]]] = {
    "object": (dict, "cannot restore struct from: "),
    "map": (dict, "cannot restore map from "),
    "list": (list, "cannot restore slice from "),
}
_READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "quantity": settled_quantity,
    "time": canonical_time,
    "micro-time": canonical_micro_time,
    "bytes": checked_base64,
}


def conversion_mistake(structure: Structure, tree: Any) -> Findings | str:
    """Settle a typed object in place; return what was odd, or the words for a wrong type."""
    settle = settler(structure)
    try:
        settle(tree)
    except Odd:
        unknown: list[str] = []
        try:
            _convert(structure, tree, "", unknown)
        except Unreadable as mistake:
            return str(mistake)
        settle(tree)
        return Findings(unknown=tuple(sorted(unknown)))
    except RecursionError:
        return "exceeded max depth"
    return CLEAN


def _convert(structure: Structure, value: Any, path: str, unknown: list[str]) -> Any:
    """Return a value that settles; whole numbers may have been written with a fraction."""
    if value is None:
        return None
    restored = _RESTORED.get(structure.type)
    if restored is None:
        return _scalar(structure, value)
    if not isinstance(value, restored[0]):
        raise Unreadable(f"{restored[1]}{go_kind(value)}")
    container: Any = value
    if structure.type == "object":
        for key in list(container):
            step = f"{path}.{key}" if path else key
            part = structure.fields.get(key)
            if part is None:
                unknown.append(step)
                del container[key]
            else:
                container[key] = _convert(part, container[key], step, unknown)
    elif structure.items is not None:
        is_map = structure.type == "map"
        entries: list[Any] = list(container.items() if is_map else enumerate(container))
        for key, part in entries:
            step = f"{path}.{key}" if is_map else f"{path}[{key}]"
            container[key] = _convert(structure.items, part, step, unknown)
    return value


def _scalar(structure: Structure, value: Any) -> Any:
    kind = structure.type
    if kind == "any":
        return value
    if kind in _READERS:
        if kind != "quantity" and not isinstance(value, str):
            if kind == "bytes":
                raise Unreadable(f"cannot restore slice from {go_kind(value)}")
            raise Unreadable(type_text(value, "string"))
        return _READERS[kind](value)
    if kind == "int-or-string":
        if isinstance(value, str) or _fits("int32", value):
            return value
        raise Unreadable(type_text(value, "int32"))
    if kind == "integer":
        return _integer(structure.go_type, value)
    if kind == "string":
        if isinstance(value, str):
            return value
        if value.__class__ is int:
            raise Unreadable(f"cannot convert int64 to {structure.go_type}")
        raise Unreadable("unrecognized type: string")
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if (kind == "boolean" and isinstance(value, bool)) or (kind == "number" and is_number):
        return value
    raise Unreadable(f"unrecognized type: {structure.go_type}")


def _integer(go_type: str, value: Any) -> int:
    if value.__class__ is float:
        if not value.is_integer():
            raise Unreadable(f"cannot convert float64 to {go_type}")
        value = int(value)
    if value.__class__ is not int:
        raise Unreadable(f"unrecognized type: {go_type}")
    if not _fits(go_type, value):
        raise Unreadable(f"cannot convert int64 to {go_type}")
    number: int = value
    return number


def _fits(go_type: str, value: Any) -> bool:
    low, high = INTEGER_LIMITS.get(go_type, INTEGER_LIMITS["int64"])
    return value.__class__ is int and low <= value <= high

"""Reading a typed object: settle it, or say in Go's words why it cannot be read.

The fast pass (``settling``) only knows that something is odd. Then the tree is walked once more,
slowly, with the path in hand: unknown fields are listed and dropped, the first wrong type is
refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from windtunnel.machinery.errors import BadRequest
from windtunnel.machinery.schema.settling import Odd, settler
from windtunnel.machinery.schema.structure import Structure
from windtunnel.machinery.schema.values import (
    INTEGER_LIMITS,
    Unreadable,
    canonical_micro_time,
    canonical_time,
    checked_base64,
    settled_quantity,
)
from windtunnel.machinery.tree import Tree


@dataclass(frozen=True, slots=True)
class Findings:
    """What was odd about an object that could be read all the same."""

    unknown: tuple[str, ...] = ()
    """Paths of fields that the type does not have, in the order of the document."""
    duplicates: tuple[str, ...] = ()
    """Paths of fields that were given twice."""

    def texts(self) -> list[str]:
        """Return the texts of ``Warning`` headers."""
        return [f'duplicate field "{path}"' for path in self.duplicates] + [
            f'unknown field "{path}"' for path in self.unknown
        ]


CLEAN: Final = Findings()


def decode_check(structure: Structure, tree: Tree, *, kind: str, version: str) -> Findings:
    """Settle a typed object in place; unknown fields are dropped and reported.

    Raises:
        BadRequest: A value is of the wrong type.
    """
    mistake = type_mistake(structure, tree)
    if isinstance(mistake, Findings):
        return mistake
    raise BadRequest(unreadable(kind, version, mistake))


def unreadable(kind: str, version: str, why: str) -> str:
    """Return the words for a body that cannot be read as this kind (version without group)."""
    return f'{kind} in version "{version}" cannot be handled as a {kind}: {why}'


def type_mistake(structure: Structure, tree: Any) -> Findings | str:
    """Settle a typed object in place; return what was odd, or Go's words for a wrong type."""
    settle = settler(structure)
    try:
        settle(tree)
    except Odd:
        look = _Look()
        look.value(structure, tree, "", (), structure.go_name)
        if look.stop or look.mistake:
            return look.stop or look.mistake
        settle(tree)
        return Findings(unknown=tuple(look.unknown))
    except RecursionError:
        return "exceeded max depth"
    return CLEAN


def fill_defaults(structure: Structure, tree: Tree) -> None:
    """Settle a typed object that our own parts made: no wrong types are expected.

    Unknown fields are dropped silently.

    Raises:
        BadRequest: A value is of the wrong type.
    """
    mistake = type_mistake(structure, tree)
    if isinstance(mistake, str):
        kind = str(tree.get("kind", structure.go_name))
        version = str(tree.get("apiVersion", "")).rpartition("/")[2]
        raise BadRequest(unreadable(kind, version, mistake))


def settle_fields(structure: Structure, tree: Tree, fields: Iterable[str]) -> bool:
    """Settle some fields of a typed object in place, if that is all there is to do.

    Returns:
        False where a field is empty, or something in it is odd: settle the whole object then.
    """
    for name in fields:
        value = tree.get(name)
        if not value:
            return False
        try:
            tree[name] = settler(structure.fields[name])(value)
        except (Odd, KeyError, RecursionError):
            return False
    return True


@dataclass(slots=True)
class _Look:
    """One slow walk. Go reports the first wrong type, but a reader's own failure at once."""

    unknown: list[str] = field(default_factory=list)
    mistake: str = ""
    stop: str = ""

    def value(
        self, structure: Structure, value: Any, path: str, trail: tuple[str, ...], owner: str
    ) -> None:
        """Look at one value. ``trail`` are the Go fields, ``owner`` is the Go struct we are in."""
        if value is None or self.stop:
            return
        match structure.type:
            case "object":
                if isinstance(value, dict):
                    self._object(structure, value, path, trail)
                    return
            case "map":
                if isinstance(value, dict):
                    if structure.items is not None:
                        for key, part in value.items():
                            step = f"{path}.{key}" if path else key
                            self.value(structure.items, part, step, trail, owner)
                    return
            case "list":
                if isinstance(value, list):
                    if structure.items is not None:
                        for index, part in enumerate(value):
                            self.value(structure.items, part, f"{path}[{index}]", trail, owner)
                    return
            case "any":
                self._any(structure, value, path, trail, owner)
                return
            case _:
                if self._scalar(structure, value, trail, owner):
                    return
        self._mistake(structure, value, trail, owner)

    def _object(self, structure: Structure, tree: Tree, path: str, trail: tuple[str, ...]) -> None:
        for key in list(tree):
            step = f"{path}.{key}" if path else key
            part = structure.fields.get(key)
            if part is None:
                self.unknown.append(step)
                del tree[key]
            else:
                self.value(part, tree[key], step, (*trail, part.go_step or key), structure.go_name)

    def _any(
        self, structure: Structure, value: Any, path: str, trail: tuple[str, ...], owner: str
    ) -> None:
        """Look at a schema or what stands in its place: a reader of its own, which is lenient."""
        if structure.items is None:
            return
        inner = _Look()
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                inner.value(structure.items, part, path, trail, owner)
        self.stop = self.stop or inner.stop or inner.mistake

    def _scalar(self, structure: Structure, value: Any, trail: tuple[str, ...], owner: str) -> bool:
        """Return whether the value fits; a reader's own failure is noted."""
        kind = structure.type
        if kind == "string":
            return isinstance(value, str)
        if kind == "boolean":
            return isinstance(value, bool)
        if kind == "number":
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        if kind == "integer":
            return _fits(structure.go_type, value)
        if kind == "bytes" and not isinstance(value, str):
            return False
        if kind == "int-or-string" and not isinstance(value, str):
            if not _fits("int32", value):
                self.stop = type_text(value, "int32", trail, owner)
        elif kind in ("time", "micro-time") and not isinstance(value, str):
            self.stop = type_text(value, "string", trail, owner)
        else:
            self._read(kind, value)
        return True

    def _read(self, kind: str, value: Any) -> None:
        try:
            _READERS[kind](value)
        except Unreadable as mistake:
            if kind == "bytes":
                self.mistake = self.mistake or str(mistake)
            else:
                self.stop = str(mistake)

    def _mistake(
        self, structure: Structure, value: Any, trail: tuple[str, ...], owner: str
    ) -> None:
        self.mistake = self.mistake or type_text(value, structure.go_type, trail, owner)


_READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "quantity": settled_quantity,
    "int-or-string": str,
    "bytes": checked_base64,
    "time": canonical_time,
    "micro-time": canonical_micro_time,
}


def _fits(go_type: str, value: Any) -> bool:
    low, high = INTEGER_LIMITS.get(go_type, INTEGER_LIMITS["int64"])
    return value.__class__ is int and low <= value <= high


def type_text(value: Any, wanted: str, trail: tuple[str, ...] = (), owner: str = "") -> str:
    """Say in Go's words that a value is of the wrong type, and in which field."""
    word = json_word(value)
    if word == "number" and wanted.startswith("int"):
        word = f"number {value!r}"
    place = f"Go struct field {owner}.{'.'.join(trail)}" if trail else "Go value"
    return f"json: cannot unmarshal {word} into {place} of type {wanted}"


def json_word(value: Any) -> str:
    """Return what Go's decoder calls a value."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    if isinstance(value, (int, float)):
        return "number"
    return "array" if isinstance(value, list) else "object"

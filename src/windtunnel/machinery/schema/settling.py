"""Settling: give a typed object the form in which the real server would write it back.

A real server decodes into Go types and encodes them again. That drops empty values of fields marked
omitempty, writes the fields that are always written, and prints quantities and times canonically.
Here each structure is compiled once into a function that does the same to a tree in one pass. It is
the hot path of every write, so it judges nothing: on anything odd it raises ``Odd`` and
``decoding`` takes a second, slow look for the exact words. Settling twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from windtunnel.errors import BrokenInvariant
from windtunnel.machinery.schema.structure import MISSING, Structure
from windtunnel.machinery.schema.values import (
    INTEGER_LIMITS,
    LARGEST_PLAIN_NUMBER,
    Unreadable,
    canonical_micro_time,
    canonical_time,
    checked_base64,
    settled_quantity,
)
from windtunnel.machinery.tree import Tree

Settle = Callable[[Any], Any]
"""Takes a value that is not null and returns it settled (containers are changed in place)."""

_DROP: Final = MISSING
_SCALAR_CLASSES: Final[dict[str, type]] = {"string": str, "boolean": bool}
_ZERO: Final[dict[str, Any]] = {
    "string": "", "bytes": "", "boolean": False, "integer": 0, "number": 0, "quantity": "0",
    "int-or-string": 0,
}  # fmt: skip
_KEPT_WHEN_ZERO: Final = frozenset({"quantity", "int-or-string"})
"""Scalars that are structs in Go, which omitempty does not leave out."""


class Odd(Exception):
    """The tree has an unknown field, or a value of the wrong type, somewhere."""


def settler(structure: Structure) -> Settle:
    """Return the function that settles values of this structure."""
    made: Settle | None = structure.compiled.get("settle")
    if made is not None:
        return made
    if structure.type == "object":
        # A model may contain itself: whoever asks while it is being made gets this detour.
        structure.compiled["settle"] = lambda value: structure.compiled["settle"](value)
    made = _make(structure)
    structure.compiled["settle"] = made
    return made


def _make(structure: Structure) -> Settle:
    match structure.type:
        case "object":
            return _object(structure)
        case "list":
            return _list(structure)
        case "map":
            return _map(structure)
        case "integer":
            return _integer(structure.go_type)
        case "quantity":
            return _readable(settled_quantity)
        case "time":
            return _text(canonical_time)
        case "micro-time":
            return _text(canonical_micro_time)
        case "bytes":
            return _text(checked_base64)
        case "int-or-string":
            return _int_or_string
        case "number":
            return _number
        case "string" | "boolean":
            return _of_class(_SCALAR_CLASSES[structure.type])
        case "any" if structure.items is not None:
            return _schema_or_else(structure)
    return _anything


def _anything(value: Any) -> Any:
    return value


def _of_class(wanted: type) -> Settle:
    def settle(value: Any) -> Any:
        if value.__class__ is not wanted:
            raise Odd
        return value

    return settle


def _number(value: Any) -> Any:
    if value.__class__ is int:
        return value
    if value.__class__ is not float:
        raise Odd
    # Go writes whole numbers without a fraction.
    return int(value) if value.is_integer() and abs(value) < LARGEST_PLAIN_NUMBER else value


def _integer(go_type: str) -> Settle:
    low, high = INTEGER_LIMITS.get(go_type, INTEGER_LIMITS["int64"])

    def settle(value: Any) -> Any:
        if value.__class__ is not int or not low <= value <= high:
            raise Odd
        return value

    return settle


_int32 = _integer("int32")


def _int_or_string(value: Any) -> Any:
    return value if value.__class__ is str else _int32(value)


def _readable(read: Callable[[Any], str]) -> Settle:
    def settle(value: Any) -> Any:
        try:
            return read(value)
        except Unreadable:
            raise Odd from None

    return settle


def _text(read: Callable[[str], str]) -> Settle:
    def settle(value: Any) -> Any:
        if value.__class__ is not str:
            raise Odd
        try:
            return read(value)
        except Unreadable:
            raise Odd from None

    return settle


def _schema_or_else(structure: Structure) -> Settle:
    """A JSON schema, or something simpler in its place (a boolean, a list)."""
    assert structure.items is not None
    schema = structure.items

    def settle(value: Any) -> Any:
        function = settler(schema)
        if value.__class__ is dict:
            return function(value)
        if value.__class__ is list:
            return [function(item) if item.__class__ is dict else item for item in value]
        return value

    return settle


def _zero(structure: Structure) -> Any:
    """Return what null means inside a list or map."""
    if structure.type == "object":
        return settler(structure)({})
    return _ZERO.get(structure.type)


def _items(structure: Structure) -> Structure:
    if structure.items is None:
        raise BrokenInvariant(f"{structure} has no items")
    return structure.items


def _list(structure: Structure) -> Settle:
    part = _items(structure)
    wanted = _SCALAR_CLASSES.get(part.type)
    function = settler(part)

    def settle(values: Any) -> Any:
        if values.__class__ is not list:
            raise Odd
        for index, value in enumerate(values):
            if value.__class__ is wanted:
                continue
            values[index] = function(value) if value is not None else _zero(part)
        return values

    return settle


def _map(structure: Structure) -> Settle:
    part = _items(structure)
    wanted = _SCALAR_CLASSES.get(part.type)
    function = settler(part)

    def settle(values: Any) -> Any:
        if values.__class__ is not dict:
            raise Odd
        for key, value in values.items():
            if value.__class__ is wanted:
                continue
            values[key] = function(value) if value is not None else _zero(part)
        return values

    return settle


def _object(structure: Structure) -> Settle:
    classes: dict[str, type] = {}
    functions: dict[str, Settle] = {}
    when_empty: dict[str, Settle] = {}
    always: list[tuple[str, Callable[[], Any]]] = []
    nulls: set[str] = set()
    for name, field in structure.fields.items():
        wanted = _SCALAR_CLASSES.get(field.type)
        if wanted is not None:
            classes[name] = wanted
        else:
            functions[name] = settler(field)
        maker = _absent(field)
        when_empty[name] = _empty(field, maker)
        if maker is not None:
            always.append((name, maker))
        if maker is _null:
            nulls.add(name)

    def settle(tree: Any) -> Any:
        if tree.__class__ is not dict:
            raise Odd
        empty: list[str] | None = None
        for key, value in tree.items():
            if not value:
                if value is None and key in nulls:
                    continue
                if empty is None:
                    empty = []
                empty.append(key)
                continue
            wanted = classes.get(key)
            if wanted is not None:
                if value.__class__ is not wanted:
                    raise Odd
                continue
            function = functions.get(key)
            if function is None:
                raise Odd
            settled = function(value)
            if settled is not value:
                tree[key] = settled
        if empty is not None:
            _settle_empty(tree, empty, when_empty)
        for key, maker in always:
            if key not in tree:
                tree[key] = maker()
        return tree

    return settle


def _settle_empty(tree: Tree, keys: list[str], rules: dict[str, Settle]) -> None:
    for key in keys:
        rule = rules.get(key)
        if rule is None:
            raise Odd
        value = rule(tree[key])
        if value is _DROP:
            del tree[key]
        else:
            tree[key] = value


def _absent(field: Structure) -> Callable[[], Any] | None:
    """Return what makes the value of a field that is not there; None: it stays away."""
    default = field.default
    if default is not MISSING and default:
        return lambda: default
    if field.type == "object" and not field.pointer:
        function = settler(field)
        return lambda: function({})
    if field.pointer or field.type in ("list", "map"):
        return None if field.omit_empty else _null
    if field.type in ("time", "micro-time", "any"):
        # A zero time is a struct, which omitempty does not leave out; it is written as null.
        return _null
    if field.omit_empty and field.type not in _KEPT_WHEN_ZERO:
        return None
    zero = _ZERO[field.type]
    return lambda: zero


def _null() -> None:
    return None


def _empty(field: Structure, absent: Callable[[], Any] | None) -> Settle:
    """Return the rule for null and zero values: what takes their place, or ``_DROP``."""
    check = settler(field)
    is_container = field.type in ("list", "map")
    drops_zero = not field.pointer and (is_container or (field.omit_empty and field.type in _ZERO))

    def settle(value: Any) -> Any:
        if value is not None:
            value = check(value)
            if not drops_zero or value:
                return value
        return _DROP if absent is None else absent()

    return settle

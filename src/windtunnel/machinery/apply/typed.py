"""A configuration as server-side apply sees it: is it of the right shape, and which fields has it.

Source: structured-merge-diff v6 (validation and field sets of typed values), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from windtunnel.machinery.apply.elements import item_name, path_text
from windtunnel.machinery.apply.fieldset import SELF, FieldSet
from windtunnel.machinery.patches.refusals import go_text
from windtunnel.machinery.schema.structure import Structure
from windtunnel.machinery.schema.values import go_kind

_DEDUCED = Structure("any")


def mistakes(structure: Structure, value: Any, path: str = "") -> Iterator[str]:
    """Yield what is wrong with a configuration, each with its path."""
    if value is None:
        return
    match structure.type:
        case "object":
            yield from _object_mistakes(structure, value, path)
        case "map":
            if not isinstance(value, dict):
                yield _expected(path, "map", value)
            elif structure.items is not None:
                for key in sorted(value):
                    yield from mistakes(structure.items, value[key], f"{path}.{key}")
        case "list":
            yield from _list_mistakes(structure, value, path)
        case "string" | "bytes" | "time" | "micro-time":
            if not isinstance(value, str):
                got = f"&value.valueUnstructured{{Value:{go_syntax(value)}}}"
                yield f"{path}: expected string, got {got}"
        case "boolean":
            if not isinstance(value, bool):
                yield _expected(path, "boolean", value)
        case "integer" | "number":
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                yield f"{path}: expected numeric (int or float), got {_go_type(value)}"
        case "quantity" | "int-or-string":
            if isinstance(value, (dict, list)):
                yield _expected(path, "any scalar", value)


def _object_mistakes(structure: Structure, value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield _expected(path, "map", value)
        return
    fields = structure.fields
    for key in sorted(value):
        part = fields.get(key)
        if part is not None:
            yield from mistakes(part, value[key], f"{path}.{key}")
        elif fields and not structure.preserve_unknown:
            yield f"{path}.{key}: field not declared in schema"
            return


def _list_mistakes(structure: Structure, value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield _expected(path, "list", value)
        return
    name = item_name(structure)
    seen: set[str] = set()
    for index, item in enumerate(value):
        step = f"[{index}]"
        if name is not None:
            element = name(item)
            if element is None:
                yield f"{path}: element {index}: {_unnamed(structure, item)}"
                continue
            step = path_text((element,))
            if element in seen:
                yield f"{path}: duplicate entries for key {step}"
            seen.add(element)
        if structure.items is not None:
            yield from mistakes(structure.items, item, path + step)


def _unnamed(structure: Structure, item: Any) -> str:
    if structure.list_type == "set":
        what = "an explicit null"
        if item is not None:
            what = "a map type" if isinstance(item, dict) else "a list type"
        return f"associative list without keys has an element that's {what}"
    if item is None:
        return "associative list with keys may not have a null element"
    if not isinstance(item, dict):
        return "associative list with keys may not have non-map elements"
    missing = next((key for key in structure.map_keys if key not in item), "")
    return (
        f'associative list with keys has an element that omits key field "{missing}" '
        "(and doesn't have default value)"
    )


def _expected(path: str, word: str, value: Any) -> str:
    return f"{path}: expected {word}, got &{{{go_text(value)}}}"


def _go_type(value: Any) -> str:
    if isinstance(value, dict):
        return "map[string]interface {}"
    return "[]interface {}" if isinstance(value, list) else go_kind(value)


def go_syntax(value: Any) -> str:
    """Print a value as Go's ``%#v`` prints decoded JSON."""
    match value:
        case None:
            return "interface {}(nil)"
        case bool():
            return "true" if value else "false"
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case dict():
            parts = ", ".join(f'"{key}":{go_syntax(value[key])}' for key in sorted(value))
            return f"map[string]interface {{}}{{{parts}}}"
        case list():
            return f"[]interface {{}}{{{', '.join(map(go_syntax, value))}}}"
    return str(value)


def field_set(structure: Structure, value: Any) -> FieldSet:
    """Return the fields that a configuration sets: leaves, list items and keys of maps."""
    fields: FieldSet = {}
    if isinstance(value, dict):
        for element, part, child in _children(structure, value):
            _add(fields, element, part, child, structure)
    return fields


def _add(fields: FieldSet, element: str, part: Structure, value: Any, parent: Structure) -> None:
    if is_leaf(part, value):
        if value is None or value == {} or not isinstance(value, (dict, list)) or _atomic(part):
            fields[element] = {}
        return
    beneath: FieldSet = {}
    for inner, inner_part, child in _children(part, value):
        _add(beneath, inner, inner_part, child, part)
    declared = element[:2] == "f:" and element[2:] in parent.fields
    if not declared:
        fields[element] = {SELF: {}, **beneath} if beneath else {}
    elif beneath:
        fields[element] = beneath


def _atomic(structure: Structure) -> bool:
    if structure.type == "list":
        return item_name(structure) is None
    return structure.map_type == "atomic" or structure.type == "any"


def is_leaf(structure: Structure, value: Any) -> bool:
    """Return whether a value is owned as one: a scalar, an atomic list or map, or empty."""
    if not value or not isinstance(value, (dict, list)):
        return True
    if isinstance(value, dict):
        return structure.map_type == "atomic" or structure.type not in ("object", "map", "any")
    return structure.type != "list" or item_name(structure) is None


def _children(structure: Structure, value: Any) -> Iterator[tuple[str, Structure, Any]]:
    """Yield (path element, structure, value) of the parts of a value that is no leaf."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield f"f:{key}", child_of(structure, key), part
        return
    name = item_name(structure)
    if name is not None and structure.items is not None:
        for part in value:
            element = name(part)
            if element is not None:
                yield element, structure.items, part


def child_of(structure: Structure, key: str) -> Structure:
    """Return the structure of a member of an object or map."""
    if structure.type == "object":
        return structure.fields.get(key) or _DEDUCED
    if structure.type == "map" and structure.items is not None:
        return structure.items
    return _DEDUCED


def with_named_fields(fields: FieldSet, structure: Structure) -> FieldSet:
    """Return the set with every declared field that it only leads through added to it."""
    named: FieldSet = {}
    for element, node in fields.items():
        if element == SELF or not node:
            named[element] = node
            continue
        beneath = with_named_fields(node, child_at(structure, element))
        if element[:2] == "f:" and element[2:] in structure.fields:
            beneath = {SELF: {}, **beneath}
        named[element] = beneath
    return named


def child_at(structure: Structure, element: str) -> Structure:
    """Return the structure of what a path element leads to."""
    if element[:2] == "f:":
        return child_of(structure, element[2:])
    return structure.items if structure.items is not None else _DEDUCED

"""Structures of custom resources, and reading an object of one: prune, drop nulls, default.

Custom resources have no Go types: what their schema does not know is dropped, a null that it does
not allow is dropped, and its own defaults are set. Nothing is refused here except metadata of the
wrong type; ``validation`` judges the rest.

Source: k8s.io/apiextensions-apiserver, v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from windtunnel.machinery.errors import BadRequest
from windtunnel.machinery.schema.decoding import Findings, type_mistake, unreadable
from windtunnel.machinery.schema.object_meta import object_meta
from windtunnel.machinery.schema.structure import MISSING, Structure
from windtunnel.machinery.schema.values import LARGEST_PLAIN_NUMBER
from windtunnel.machinery.tree import Tree, decode, encode

_TEXT = Structure("string")
_ANY = Structure("any")
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED = "x-kubernetes-embedded-resource"


def from_custom_schema(schema: Mapping[str, Any]) -> Structure:
    """Return the structure that an ``openAPIV3Schema`` describes, and the fields of all objects."""
    return _node(schema, is_object=True)


def _node(schema: Mapping[str, Any], *, is_object: bool = False) -> Structure:
    kind = schema.get("type", "")
    embedded = bool(schema.get(_EMBEDDED))
    preserve = bool(schema.get(_PRESERVE))
    common: dict[str, Any] = {
        "default": schema.get("default", MISSING),
        "schema": schema,
        "preserve_unknown": preserve,
        "embedded_resource": embedded,
    }
    if schema.get("x-kubernetes-int-or-string"):
        return Structure("int-or-string", **common)
    if kind == "array":
        return Structure(
            "list",
            items=_node(schema.get("items") or {}),
            list_type=schema.get("x-kubernetes-list-type", "atomic"),
            map_keys=tuple(schema.get("x-kubernetes-list-map-keys", ())),
            **common,
        )
    if kind == "object" or embedded or is_object:
        return _object(schema, common, has_metadata=embedded or is_object)
    if kind in ("string", "integer", "number", "boolean"):
        return Structure(kind, **common)
    return Structure("any", **common)


def _object(schema: Mapping[str, Any], common: dict[str, Any], *, has_metadata: bool) -> Structure:
    properties = schema.get("properties") or {}
    values = schema.get("additionalProperties")
    map_type = schema.get("x-kubernetes-map-type", "granular")
    if values and not properties and not has_metadata:
        items = _node(values) if isinstance(values, Mapping) else _ANY
        return Structure("map", items=items, map_type=map_type, **common)
    fields = {name: _node(part) for name, part in properties.items()}
    if has_metadata:
        fields |= {"apiVersion": _TEXT, "kind": _TEXT, "metadata": object_meta()}
    return Structure(
        "object",
        fields=fields,
        required=frozenset(schema.get("required") or ()),
        map_type=map_type,
        **common,
    )


def read_custom(structure: Structure, tree: Tree, *, kind: str, version: str) -> Findings:
    """Bring an object into the form in which it is stored, in place; report unknown fields.

    Raises:
        BadRequest: ``metadata`` is of the wrong type.
    """
    metadata = tree.get("metadata")
    unknown: list[str] = []
    if metadata is not None:
        found = type_mistake(structure.fields["metadata"], metadata)
        if isinstance(found, str):
            raise BadRequest(unreadable(kind, version, found))
        unknown = [f"metadata.{path}" for path in found.unknown]
    settle_numbers(tree)
    unknown += prune(structure, tree)
    drop_nulls(structure, tree)
    fill_custom_defaults(structure, tree)
    return Findings(unknown=tuple(unknown))


def settle_numbers(value: Any) -> Any:
    """Write whole numbers without a fraction, in place; return the value."""
    if value.__class__ is float:
        return int(value) if value.is_integer() and abs(value) < LARGEST_PLAIN_NUMBER else value
    if value.__class__ is dict:
        for key, part in value.items():
            if part.__class__ is not str:
                value[key] = settle_numbers(part)
    elif value.__class__ is list:
        value[:] = [settle_numbers(part) for part in value]
    return value


def prune(structure: Structure, tree: Tree) -> list[str]:
    """Drop the fields that the schema does not know, in place; return their paths."""
    unknown: list[str] = []
    for key in list(tree):
        if key == "metadata":
            continue
        part = structure.fields.get(key)
        if part is not None:
            _prune(part, tree[key], key, unknown)
        elif not structure.preserve_unknown:
            unknown.append(key)
            del tree[key]
    return sorted(unknown)


def _prune(structure: Structure, value: Any, path: str, unknown: list[str]) -> None:
    if isinstance(value, list):
        if structure.type == "list" and structure.items is not None:
            for index, item in enumerate(value):
                _prune(structure.items, item, f"{path}[{index}]", unknown)
        return
    if not isinstance(value, dict):
        return
    if structure.type == "map" and structure.items is not None:
        for key, part in value.items():
            _prune(structure.items, part, f"{path}.{key}", unknown)
        return
    if structure.type == "any":
        return
    # An object where a scalar or list should be is refused later, but first loses its fields.
    for key in list(value):
        part = structure.fields.get(key)
        if structure.embedded_resource and key == "metadata":
            found = type_mistake(object_meta(), value[key])
            if isinstance(found, Findings):
                unknown += [f"{path}.metadata.{name}" for name in found.unknown]
            else:
                unknown.append(f"{path}.metadata")
                del value[key]
        elif part is not None:
            _prune(part, value[key], f"{path}.{key}", unknown)
        elif not structure.preserve_unknown:
            unknown.append(f"{path}.{key}")
            del value[key]


def _nullable(structure: Structure) -> bool:
    return bool((structure.schema or {}).get("nullable"))


def _drops_null(structure: Structure) -> bool:
    return structure.default is MISSING and not _nullable(structure)


def drop_nulls(structure: Structure, value: Any) -> None:
    """Drop nulls of fields that may not be null and have no default, in place."""
    if isinstance(value, list):
        if structure.type == "list" and structure.items is not None:
            for item in value:
                drop_nulls(structure.items, item)
    elif isinstance(value, dict):
        if structure.type == "map" and structure.items is not None:
            for key in list(value):
                if value[key] is None and _drops_null(structure.items):
                    del value[key]
                else:
                    drop_nulls(structure.items, value[key])
        elif structure.type == "object":
            for key in list(value):
                part_of = structure.fields.get(key)
                if part_of is None or part_of.model:
                    continue
                if value[key] is None and _drops_null(part_of):
                    del value[key]
                else:
                    drop_nulls(part_of, value[key])


def fill_custom_defaults(structure: Structure, value: Any) -> None:
    """Set the schema's defaults where a field is missing (or null and may not be), in place."""
    if isinstance(value, dict):
        if structure.type == "map" and structure.items is not None:
            for key, part in value.items():
                value[key] = _defaulted(structure.items, part)
        elif structure.type == "object":
            for key, part_of in structure.fields.items():
                if part_of.model:
                    continue
                if key in value:
                    value[key] = _defaulted(part_of, value[key])
                elif part_of.default is not MISSING:
                    value[key] = _defaulted(part_of, _copy(part_of.default))
    elif isinstance(value, list) and structure.type == "list" and structure.items is not None:
        value[:] = [_defaulted(structure.items, item) for item in value]


def _defaulted(structure: Structure, value: Any) -> Any:
    if value is None and structure.default is not MISSING and not _nullable(structure):
        value = _copy(structure.default)
    if isinstance(value, (dict, list)):
        fill_custom_defaults(structure, value)
    return value


def _copy(value: Any) -> Any:
    return decode(encode(value)) if isinstance(value, (dict, list)) else value

"""What makes a schema structural.

Source: k8s.io/apiextensions-apiserver structural schemas, v1.36; recorded answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from windtunnel.machinery.schema.validation import Schema
from windtunnel.machinery.violations import (
    Violation,
    forbidden,
    invalid,
    not_supported,
    required,
)

_UNTYPED: Final = {
    "root": "must not be empty at the root",
    "item": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}
_ONLY_OUTSIDE: Final = {
    "type": "must be empty to be structural",
    "additionalProperties": "must be undefined to be structural",
    "title": "must be empty to be structural",
    "description": "must be empty to be structural",
    "default": "must be undefined to be structural",
    "nullable": "must be false to be structural",
    "x-kubernetes-preserve-unknown-fields": "must be false to be structural",
    "x-kubernetes-embedded-resource": "must be false to be structural",
    "x-kubernetes-int-or-string": "must be false to be structural",
}
_PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED: Final = "x-kubernetes-embedded-resource"
_COMBINATIONS: Final = ("allOf", "anyOf", "oneOf")


def invariants(schema: Schema, path: str, level: str) -> Iterator[Violation]:
    """Yield what keeps a schema from being structural; ``level`` is root, field or item."""
    for name, part in (schema.get("properties") or {}).items():
        yield from invariants(part, f"{path}.properties[{name}]", "field")
    if isinstance(schema.get("items"), Mapping):
        yield from invariants(schema["items"], f"{path}.items", "item")
    values = schema.get("additionalProperties")
    if isinstance(values, Mapping):
        yield from invariants(values, f"{path}.additionalProperties", "field")
    yield from _type(schema, path, level)
    if level == "root" or schema.get(_EMBEDDED):
        yield from _object_fields(schema, path)
    yield from _extensions(schema, path)
    for place, part in _combined(schema, path):
        if not (schema.get("x-kubernetes-int-or-string") and _is_type_choice(part)):
            yield from _nested(part, place)


def _type(schema: Schema, path: str, level: str) -> Iterator[Violation]:
    kind = schema.get("type", "")
    where = f"{path}.type"
    if schema.get(_EMBEDDED):
        must = "must be object if x-kubernetes-embedded-resource is true"
        if not kind:
            yield required(where, must)
        elif kind != "object":
            yield invalid(where, kind, must)
        if "additionalProperties" in schema:
            yield forbidden(
                f"{path}.additionalProperties",
                "must not be used if x-kubernetes-embedded-resource is set",
            )
    elif not kind:
        if not schema.get("x-kubernetes-int-or-string") and not schema.get(_PRESERVE):
            yield required(where, _UNTYPED[level])
    elif level == "root" and kind != "object":
        yield invalid(where, kind, "must be object at the root")
    if kind == "array" and "items" not in schema:
        yield required(f"{path}.items", "must be specified")


def _object_fields(schema: Schema, path: str) -> Iterator[Violation]:
    """The server knows the fields of all objects; a schema may only narrow their names."""
    properties = schema.get("properties") or {}
    for name, kind in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
        found = (properties.get(name) or {}).get("type", "")
        if name in properties and found != kind:
            yield invalid(f"{path}.properties[{name}].type", found, f"must be {kind}")
    metadata = properties.get("metadata") or {}
    known = {"type", "properties", "description"}
    if set(metadata) - known or set(metadata.get("properties") or {}) - {"name", "generateName"}:
        yield forbidden(
            f"{path}.properties[metadata]",
            "must not specify anything other than name and generateName, but metadata is "
            "implicitly specified",
        )


def _extensions(schema: Schema, path: str) -> Iterator[Violation]:
    if schema.get(_PRESERVE) is False:
        yield invalid(f"{path}.{_PRESERVE}", False, "must be true or undefined")
    map_type = schema.get("x-kubernetes-map-type")
    if map_type is not None:
        if map_type not in ("atomic", "granular"):
            yield not_supported(f"{path}.x-kubernetes-map-type", map_type, ["atomic", "granular"])
        elif schema.get("type") != "object":
            yield invalid(
                f"{path}.type",
                schema.get("type", ""),
                "must be object if x-kubernetes-map-type is specified",
            )
    items: Any = schema.get("items")
    if not isinstance(items, Mapping):
        items = {}  # a list of schemas, which no rule here speaks of
    list_type = schema.get("x-kubernetes-list-type")
    if list_type == "set":
        word = {"object": "x-kubernetes-map-type", "array": "x-kubernetes-list-type"}.get(
            items.get("type", "")
        )
        if word is not None and items.get(word) != "atomic":
            yield invalid(
                f"{path}.items.{word}",
                items.get(word),
                "must be atomic as item of a list with x-kubernetes-list-type=set",
            )
    elif list_type == "map":
        yield from _keys(schema.get("x-kubernetes-list-map-keys") or (), items, f"{path}.items")


def _keys(keys: Any, items: Schema, path: str) -> Iterator[Violation]:
    properties = items.get("properties") or {}
    for key in keys:
        part = properties.get(key)
        if part is not None and "default" not in part and key not in (items.get("required") or ()):
            yield required(
                f"{path}.properties[{key}].default",
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be "
                "a required property",
            )


def _combined(schema: Schema, path: str) -> Iterator[tuple[str, Schema]]:
    for word in _COMBINATIONS:
        for index, part in enumerate(schema.get(word) or ()):
            yield f"{path}.{word}[{index}]", part
    if schema.get("not"):
        yield f"{path}.not", schema["not"]


def _is_type_choice(part: Schema) -> bool:
    """``anyOf: [{type: integer}, {type: string}]`` is the one way for a type to stand there."""
    if set(part) == {"type"}:
        return part["type"] in ("integer", "string")
    return bool(part.get("anyOf")) and all(map(_is_type_choice, part["anyOf"]))


def _nested(schema: Schema, path: str) -> Iterator[Violation]:
    """Judge a schema that may only add rules to the one around it."""
    for word, why in _ONLY_OUTSIDE.items():
        if schema.get(word):
            yield forbidden(f"{path}.{word}", why)
    for name, part in (schema.get("properties") or {}).items():
        yield from _nested(part, f"{path}.properties[{name}]")
    if isinstance(schema.get("items"), Mapping):
        yield from _nested(schema["items"], f"{path}.items")
    for place, part in _combined(schema, path):
        yield from _nested(part, place)


def completeness(schema: Schema, path: str) -> Iterator[Violation]:
    """Yield the fields that are only spoken of inside combinations."""
    for place, part in _combined(schema, path):
        yield from _missing(schema, part, path, place)
    for name, part in (schema.get("properties") or {}).items():
        yield from completeness(part, f"{path}.properties[{name}]")
    for word in ("items", "additionalProperties"):
        if isinstance(schema.get(word), Mapping):
            yield from completeness(schema[word], f"{path}.{word}")


def _missing(outer: Schema, inner: Schema, path: str, place: str) -> Iterator[Violation]:
    known = outer.get("properties") or {}
    for name, part in (inner.get("properties") or {}).items():
        field, source = f"{path}.properties[{name}]", f"{place}.properties[{name}]"
        if name not in known:
            yield required(field, f"because it is defined in {source}")
        else:
            yield from _missing(known[name], part, field, source)
    items = inner.get("items")
    if isinstance(items, Mapping):
        if isinstance(outer.get("items"), Mapping):
            yield from _missing(outer["items"], items, f"{path}.items", f"{place}.items")
        else:
            yield required(f"{path}.items", f"because it is defined in {place}.items")
    for deeper, part in _combined(inner, place):
        yield from _missing(outer, part, path, deeper)

"""Judge the schema in a CustomResourceDefinition: is it structural, and are its defaults valid.

A structural schema gives every field one type outside of ``allOf``, ``anyOf``, ``oneOf`` and
``not``, which may only add rules. Rules in CEL are refused until there is something to judge by
them: a rule that silently never fires would be worse.

Source: k8s.io/apiextensions-apiserver structural schemas, v1.36.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from windtunnel.machinery.schema.validation import Schema, validate_schema
from windtunnel.machinery.violations import (
    Violation,
    forbidden,
    invalid,
    not_supported,
    required,
)

_RULES: Final = "x-kubernetes-validations"
_NO_CEL: Final = (
    "rules in CEL are not supported yet; remove them, or the objects they judge would be accepted "
    "unjudged"
)
_LEVELS: Final = {
    "root": "must not be empty at the root",
    "item": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}
_TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
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
_NAMED_IN_METADATA: Final = frozenset({"name", "generateName"})


def judge_definition(
    schema: Schema, path: str = "spec.validation.openAPIV3Schema"
) -> list[Violation]:
    """Return what is wrong with the schema of a CustomResourceDefinition."""
    return [*_structural(schema, path, "root"), *_defaults(schema, path)]


def _structural(schema: Schema, path: str, level: str) -> Iterator[Violation]:
    for name, part in sorted((schema.get("properties") or {}).items()):
        yield from _structural(part, f"{path}.properties[{name}]", "field")
    if isinstance(schema.get("items"), Mapping):
        yield from _structural(schema["items"], f"{path}.items", "item")
    values = schema.get("additionalProperties")
    if isinstance(values, Mapping):
        yield from _structural(values, f"{path}.additionalProperties", "field")
    yield from _combinations(schema, path)
    yield from _type(schema, path, level)
    yield from _keys(schema, path)
    for index in range(len(schema.get(_RULES) or ())):
        yield forbidden(f"{path}.{_RULES}[{index}].rule", _NO_CEL)
    if level == "root":
        yield from _metadata(schema, path)


def _type(schema: Schema, path: str, level: str) -> Iterator[Violation]:
    kind = schema.get("type", "")
    where = f"{path}.type"
    if schema.get("x-kubernetes-embedded-resource"):
        yield from _embedded(schema, path, kind)
    elif schema.get("x-kubernetes-int-or-string"):
        if kind:
            yield invalid(where, kind, "must be empty if x-kubernetes-int-or-string is true")
    elif not kind:
        if not schema.get("x-kubernetes-preserve-unknown-fields"):
            yield required(where, _LEVELS[level])
    elif level == "root" and kind != "object":
        yield invalid(where, kind, "must be object at the root")
    elif kind not in _TYPES:
        yield not_supported(where, kind, list(_TYPES))
    if kind == "array" and "items" not in schema:
        yield required(f"{path}.items", "must be specified")


def _embedded(schema: Schema, path: str, kind: str) -> Iterator[Violation]:
    must = "must be object if x-kubernetes-embedded-resource is true"
    if not kind:
        yield required(f"{path}.type", must)
    elif kind != "object":
        yield invalid(f"{path}.type", kind, must)
    if "additionalProperties" in schema:
        yield forbidden(
            f"{path}.additionalProperties",
            "must not be used if x-kubernetes-embedded-resource is set",
        )
    if not schema.get("properties") and not schema.get("x-kubernetes-preserve-unknown-fields"):
        yield required(
            f"{path}.properties",
            "must not be empty if x-kubernetes-embedded-resource is true without "
            "x-kubernetes-preserve-unknown-fields",
        )


def _metadata(schema: Schema, path: str) -> Iterator[Violation]:
    """The server knows the metadata of all objects; a schema may only narrow its names."""
    metadata = (schema.get("properties") or {}).get("metadata") or {}
    extra = set(metadata) - {"type", "properties", "description"}
    if extra or set(metadata.get("properties") or {}) - _NAMED_IN_METADATA:
        yield forbidden(
            f"{path}.properties[metadata]",
            "must not specify anything other than name and generateName, but metadata is "
            "implicitly specified",
        )


def _keys(schema: Schema, path: str) -> Iterator[Violation]:
    """Judge what is said about merging a list."""
    list_type = schema.get("x-kubernetes-list-type")
    keys = schema.get("x-kubernetes-list-map-keys") or ()
    if list_type is None:
        return
    where = f"{path}.x-kubernetes-list-type"
    if list_type not in ("atomic", "map", "set"):
        yield not_supported(where, list_type, ["atomic", "map", "set"])
        return
    if schema.get("type") != "array":
        yield invalid(
            f"{path}.type", schema.get("type", ""), "must be array if x-kubernetes-list-type is set"
        )
    if list_type == "map" and not keys:
        yield required(
            f"{path}.x-kubernetes-list-map-keys",
            "must not be empty if x-kubernetes-list-type is map",
        )
    items = schema.get("items") or {}
    properties = items.get("properties") or {}
    for key in keys:
        if key not in properties:
            yield invalid(
                f"{path}.x-kubernetes-list-map-keys",
                key,
                "entries must all be names of item properties",
            )
        elif "default" not in properties[key] and key not in (items.get("required") or ()):
            yield required(
                f"{path}.items.properties[{key}].default",
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be "
                "a required property",
            )


def _combinations(schema: Schema, path: str) -> Iterator[Violation]:
    is_int_or_string = bool(schema.get("x-kubernetes-int-or-string"))
    for word in ("allOf", "anyOf", "oneOf"):
        for index, part in enumerate(schema.get(word) or ()):
            if not (is_int_or_string and _is_type_choice(part)):
                yield from _nested(schema, part, f"{path}.{word}[{index}]", path)
    if schema.get("not"):
        yield from _nested(schema, schema["not"], f"{path}.not", path)


def _is_type_choice(part: Schema) -> bool:
    """``anyOf: [{type: integer}, {type: string}]`` is the one way for a type to stand there."""
    if set(part) == {"type"}:
        return part["type"] in ("integer", "string")
    return bool(part.get("anyOf")) and all(map(_is_type_choice, part["anyOf"]))


def _nested(outer: Any, schema: Schema, path: str, outer_path: str) -> Iterator[Violation]:
    """Judge a schema that may only add rules to ``outer``."""
    for word, why in _ONLY_OUTSIDE.items():
        if schema.get(word):
            yield forbidden(f"{path}.{word}", why)
    known = (outer or {}).get("properties") or {}
    for name, part in sorted((schema.get("properties") or {}).items()):
        place = f"{outer_path}.properties[{name}]"
        is_new = outer is not None and name not in known and "additionalProperties" not in outer
        if is_new and not any(part.get(word) for word in _ONLY_OUTSIDE):
            yield required(place, f"because it is defined in {path}.properties[{name}]")
        yield from _nested(known.get(name), part, f"{path}.properties[{name}]", place)
    if isinstance(schema.get("items"), Mapping):
        items = (outer or {}).get("items")
        yield from _nested(items, schema["items"], f"{path}.items", f"{outer_path}.items")
    for word in ("allOf", "anyOf", "oneOf"):
        for index, part in enumerate(schema.get(word) or ()):
            yield from _nested(outer, part, f"{path}.{word}[{index}]", outer_path)
    if schema.get("not"):
        yield from _nested(outer, schema["not"], f"{path}.not", outer_path)


def _defaults(schema: Schema, path: str) -> Iterator[Violation]:
    if "default" in schema:
        where = f"{path}.default"
        for violation in validate_schema(schema, schema["default"]):
            inner = violation.field
            field = f"{where}.{inner}" if inner and inner != "<nil>" else where
            yield Violation(field, violation.reason, violation.message)
    for name, part in sorted((schema.get("properties") or {}).items()):
        yield from _defaults(part, f"{path}.properties[{name}]")
    for word in ("items", "additionalProperties"):
        if isinstance(schema.get(word), Mapping):
            yield from _defaults(schema[word], f"{path}.{word}")

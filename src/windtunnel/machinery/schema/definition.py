"""Judge the schema in a CustomResourceDefinition: is it structural, and are its defaults valid.

A structural schema gives every field one type outside of ``allOf``, ``anyOf``, ``oneOf`` and
``not``, which may only add rules. Rules in CEL are refused but for the one that ``transitions``
judges: a rule that silently never fires would be worse.

Source: k8s.io/apiextensions-apiserver, v1.36; recorded answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from windtunnel.machinery.schema.patterns import go_pattern
from windtunnel.machinery.schema.structural import completeness, invariants
from windtunnel.machinery.schema.transitions import RULES, is_followed, is_known
from windtunnel.machinery.schema.validation import Schema, validate_schema
from windtunnel.machinery.violations import (
    Violation,
    forbidden,
    invalid,
    not_supported,
    required,
)

_NO_CEL: Final = (
    "no rule in CEL but self == oldSelf is supported yet; remove it, or the objects it judges "
    "would be accepted unjudged"
)
_TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
_UNSUPPORTED: Final = (
    "id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref",
)  # fmt: skip
_COMBINATIONS: Final = ("allOf", "anyOf", "oneOf")


def judge_definition(
    schema: Schema, path: str = "spec.validation.openAPIV3Schema"
) -> list[Violation]:
    """Return what is wrong with the schema of a CustomResourceDefinition."""
    structural = sorted(invariants(schema, path, "root"), key=str)
    if not structural:
        structural = sorted(completeness(schema, path), key=str)
    violations = [*structural, *_words(schema, path)]
    # Only by a schema that is sound can anything be judged.
    return violations or [*_patterns(schema, path), *_defaults(schema, path)]


def _patterns(schema: Schema, path: str) -> Iterator[Violation]:
    pattern = schema.get("pattern")
    if pattern:
        try:
            go_pattern(pattern)
        except ValueError as mistake:
            yield invalid(f"{path}.pattern", pattern, str(mistake))
    for place, part in _parts(schema, path):
        yield from _patterns(part, place)


def _words(schema: Schema, path: str, *, followed: bool = True) -> Iterator[Violation]:
    """Judge each part of a schema by itself: which words it uses, and their values.

    ``followed``: whether a value here has a counterpart in the old object.
    """
    if schema.get("uniqueItems"):
        yield forbidden(
            f"{path}.uniqueItems",
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
        )
    values = schema.get("additionalProperties")
    if values is False:
        yield forbidden(
            f"{path}.additionalProperties", "additionalProperties cannot be set to false"
        )
    items = schema.get("items")
    if items is not None and not isinstance(items, Mapping):
        yield forbidden(f"{path}.items", "items must be a schema object and not an array")
    for word in _UNSUPPORTED:
        if schema.get(word):
            yield forbidden(f"{path}.{word}", f"{word} is not supported")
    kind = schema.get("type", "")
    if kind == "null":
        yield forbidden(
            f"{path}.type", "type cannot be set to null, use nullable as an alternative"
        )
    elif kind and kind not in _TYPES:
        yield not_supported(f"{path}.type", kind, list(_TYPES))
    yield from _list_words(schema, path)
    for index, rule in enumerate(schema.get(RULES) or ()):
        if not (followed and is_known(rule)):
            yield forbidden(f"{path}.{RULES}[{index}].rule", _NO_CEL)
    for place, part in _parts(schema, path):
        is_item = part is schema.get("items")
        yield from _words(part, place, followed=followed and (not is_item or is_followed(schema)))


def _parts(schema: Schema, path: str) -> Iterator[tuple[str, Schema]]:
    """Yield (path, schema) of the schemas directly inside of one."""
    for name, part in sorted((schema.get("properties") or {}).items()):
        yield f"{path}.properties[{name}]", part
    for word in ("items", "additionalProperties", "not"):
        if isinstance(schema.get(word), Mapping):
            yield f"{path}.{word}", schema[word]
    for word in _COMBINATIONS:
        for index, part in enumerate(schema.get(word) or ()):
            yield f"{path}.{word}[{index}]", part


def _list_words(schema: Schema, path: str) -> Iterator[Violation]:
    """Judge what is said about merging a list."""
    list_type = schema.get("x-kubernetes-list-type")
    keys = schema.get("x-kubernetes-list-map-keys") or ()
    where = f"{path}.x-kubernetes-list-map-keys"
    if list_type is None:
        if keys:
            yield required(
                f"{path}.x-kubernetes-list-type",
                "must be map if x-kubernetes-list-map-keys is non-empty",
            )
        return
    if schema.get("type") != "array":
        yield invalid(
            f"{path}.type",
            schema.get("type", ""),
            "must be array if x-kubernetes-list-type is specified",
        )
    elif list_type not in ("atomic", "set", "map"):
        yield not_supported(f"{path}.x-kubernetes-list-type", list_type, ["atomic", "set", "map"])
    elif list_type == "map" and not keys:
        yield required(where, "must not be empty if x-kubernetes-list-type is map")
    elif list_type != "map" and keys:
        yield invalid(
            f"{path}.x-kubernetes-list-type",
            list_type,
            "must be map if x-kubernetes-list-map-keys is non-empty",
        )
    else:
        items = schema.get("items")
        properties = (items.get("properties") or {}) if isinstance(items, Mapping) else {}
        for index, key in enumerate(keys):
            if key not in properties:
                yield invalid(
                    f"{where}[{index}]", key, "entries must all be names of item properties"
                )


def _defaults(schema: Schema, path: str) -> Iterator[Violation]:
    if schema.get("default") is not None:
        where = f"{path}.default"
        for violation in validate_schema(schema, schema["default"]):
            inner = violation.field
            field = f"{where}.{inner}" if inner and inner != "<nil>" else where
            yield Violation(field, violation.reason, violation.message)
    for place, part in _parts(schema, path):
        yield from _defaults(part, place)

"""What a definition says of each of its versions: schema, subresources, columns, selectable fields.

A definition with one form for all versions is judged as if it had said it for each.
"""

from __future__ import annotations

import re
from typing import Final

from windtunnel.kinds.rules import checks
from windtunnel.machinery import names
from windtunnel.machinery.schema import judge_definition
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    duplicate,
    forbidden,
    invalid,
    required,
    too_many,
)

_COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS: Final = (
    "byte",
    "date",
    "date-time",
    "double",
    "float",
    "int32",
    "int64",
    "password",
)
_LONGEST_WARNING: Final = 256
_MOST_SELECTABLE: Final = 8
_PRESERVE: Final = (
    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in"
    " spec.versions[*].schema instead"
)
_VERSIONED: Final = ("schema", "subresources", "additionalPrinterColumns", "selectableFields")
_STATUS_ROOT: Final = (
    'only "object" is allowed as the type at the root of the schema if the status subresource is'
    " enabled"
)


def _warning_problems(version: Tree) -> list[str]:
    text = version.get("deprecationWarning")
    if text is None:
        return []
    if not version.get("deprecated"):
        return ["can only be set for deprecated versions"]
    found = []
    if len(text.encode()) > _LONGEST_WARNING:
        found.append(f"must be <= {_LONGEST_WARNING} characters long")
    if not text:
        found.append("must not be an empty string")
    for index, character in enumerate(text):
        if not character.isprintable():
            found.append(
                "must only contain printable UTF-8 characters; non-printable character found at"
                f" index {index}"
            )
            break
    return found


def _simple_path(path: str, field: str) -> list[Violation]:
    if path.startswith("."):
        return []
    return [invalid(field, path, "must be a simple json path starting with .")]


def _validate_subresources(subresources: Tree | None, field: str) -> list[Violation]:
    scale = (subresources or {}).get("scale")
    if scale is None:
        return []
    found: list[Violation] = []
    for key, roots, said in (
        ("specReplicasPath", (".spec.",), ".spec"),
        ("statusReplicasPath", (".status.",), ".status"),
        ("labelSelectorPath", (".spec.", ".status."), "either .spec or .status"),
    ):
        path, where = scale.get(key) or "", f"{field}.scale.{key}"
        if not path:
            found += [] if key == "labelSelectorPath" else [required(where)]
            continue
        wrong = _simple_path(path, where)
        if not wrong and not path.startswith(roots):
            wrong = [invalid(where, path, f"should be a json path under {said}")]
        found += wrong
    return found


def _validate_column(column: Tree, field: str) -> list[Violation]:
    kind, shape, path = (column.get(key) or "" for key in ("type", "format", "jsonPath"))
    found = [] if column.get("name") else [required(f"{field}.name")]
    text = f"must be one of {','.join(_COLUMN_TYPES)}"
    if not kind:
        found.append(required(f"{field}.type", text))
    elif kind not in _COLUMN_TYPES:
        found.append(invalid(f"{field}.type", kind, text))
    if shape and shape not in _COLUMN_FORMATS:
        text = f"must be one of {','.join(_COLUMN_FORMATS)}"
        found.append(invalid(f"{field}.format", shape, text))
    if not path:
        return [*found, required(f"{field}.JSONPath")]
    return found + _simple_path(path, f"{field}.JSONPath")


def _selected(schema: Tree, path: str) -> Tree | str:
    """Return the schema of the field at ``path``, or what is wrong with the path."""
    if not path.startswith((".", "[")):
        word = re.split(r"[.\[\]]", path)[0]
        return f"expected [ or . but got: {word}"
    node = schema
    for step in path[1:].split("."):
        below = (node.get("properties") or {}).get(step)
        if below is None:
            return "does not refer to a valid field"
        node = below
    return node


def _validate_selectable(selectable: list[Tree], schema: Tree, field: str) -> list[Violation]:
    found: list[Violation] = []
    seen: set[str] = set()
    for index, chosen in enumerate(selectable):
        where, path = f"{field}[{index}].jsonPath", chosen.get("jsonPath") or ""
        if not path:
            found.append(required(where))
            continue
        target = _selected(schema, path)
        if isinstance(target, str):
            found.append(invalid(where, path, f"is an invalid path: {target}"))
            continue
        if path.startswith(".metadata."):
            found.append(invalid(where, path, "must not point to fields in metadata"))
        if target.get("type") not in ("string", "boolean", "integer"):
            text = (
                "must point to a field of type string, boolean or integer. Enum string fields and"
                " strings with formats are allowed."
            )
            found.append(invalid(where, path, text))
        if path in seen:
            found.append(duplicate(where, path))
        seen.add(path)
    if len(seen) > _MOST_SELECTABLE:
        found.append(too_many(field, len(seen), _MOST_SELECTABLE))
    return found


def _validate_schema(schema: Tree | None, field: str, *, has_status: bool) -> list[Violation]:
    if schema is None:
        return []
    if has_status and schema.get("type") not in ("object", None):
        return [invalid(f"{field}.type", schema["type"], _STATUS_ROOT)]
    found: list[Violation] = []
    if schema.get("nullable"):
        found.append(forbidden(f"{field}.nullable", "nullable cannot be true at the root"))
    return found + judge_definition(schema, field)


def _validate_parts(parts: Tree, field: str, schema_field: str) -> list[Violation]:
    """Judge schema, subresources, columns and selectable fields of one version, or of all."""
    schema = dig(parts, "schema", "openAPIV3Schema")
    has_status = dig(parts, "subresources", "status") is not None
    found = _validate_schema(schema, f"{schema_field}.openAPIV3Schema", has_status=has_status)
    found += _validate_subresources(parts.get("subresources"), f"{field}.subresources")
    for index, column in enumerate(parts.get("additionalPrinterColumns") or ()):
        found += _validate_column(column, f"{field}.additionalPrinterColumns[{index}]")
    selectable = parts.get("selectableFields") or []
    return found + _validate_selectable(selectable, schema or {}, f"{field}.selectableFields")


def _shared(versions: list[Tree]) -> Tree:
    """Return those parts that all versions say alike."""
    first = versions[0] if versions else {}
    return {
        key: first[key]
        for key in _VERSIONED
        if first.get(key) and all(version.get(key) == first[key] for version in versions)
    }


def validate_versions(spec: Tree) -> list[Violation]:
    """Judge the versions of a definition, together and one by one."""
    versions = spec.get("versions") or []
    shared = _shared(versions)
    found: list[Violation] = []
    if not dig(shared, "schema", "openAPIV3Schema"):
        for index, version in enumerate(versions):
            if not dig(version, "schema", "openAPIV3Schema"):
                found.append(required(f"spec.versions[{index}].schema.openAPIV3Schema"))
    for index, version in enumerate(versions):
        where, name = f"spec.versions[{index}]", version.get("name") or ""
        found += checks.joined(name, f"{where}.name", names.dns_1035_label(name))
        for text in _warning_problems(version):
            warning = version.get("deprecationWarning")
            found.append(invalid(f"{where}.deprecationWarning", warning, text))
        own = {key: value for key, value in version.items() if key not in shared}
        found += _validate_parts(own, where, f"{where}.schema")
    listed = [version.get("name") for version in versions]
    shown = checks.go_value(
        [{k: v for k, v in each.items() if k not in _VERSIONED} for each in versions]
    )
    if len(set(listed)) != len(listed):
        text = "must contain unique version names"
        found.append(invalid("spec.versions", shown, text))
    if sum(1 for version in versions if version.get("storage")) != 1:
        text = "must have exactly one version marked as storage version"
        found.append(invalid("spec.versions", shown or None, text))
    if versions and listed[0]:
        found += checks.joined(listed[0], "spec.version", names.dns_1035_label(listed[0]))
    return found

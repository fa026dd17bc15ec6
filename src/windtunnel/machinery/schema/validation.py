"""Judge a custom resource by its schema, in the words of the real server's validator.

Source: k8s.io/kube-openapi validation and k8s.io/apiextensions-apiserver, v1.36.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from windtunnel.machinery.schema.formats import fits
from windtunnel.machinery.schema.patterns import go_pattern
from windtunnel.machinery.schema.structure import Structure
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import (
    Violation,
    duplicate,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
    type_invalid,
)

Schema = Mapping[str, Any]
_OUTSIDE: Final = "<nil>"
"""How the real server prints the path of a violation that it lost the path of."""
_LARGEST_FLOAT: Final = 3.4028234663852886e38


def validate_custom(structure: Structure, tree: Tree) -> list[Violation]:
    """Return the violations of an object that was read (pruned and defaulted) before."""
    violations = list(validate_schema(structure.schema or {}, tree))
    violations += _embedded(structure, tree, "")
    violations += _keyed_lists(structure, tree, "")
    return violations


def validate_schema(schema: Schema, value: Any, path: str = "") -> Iterator[Violation]:
    """Yield what a value breaks of a schema; ``path`` is how its field is called."""
    wrong_type = _type_violation(schema, value, path)
    if wrong_type is not None:
        yield wrong_type
    yield from _combined(schema, value, path)
    match value:
        case str():
            yield from _text(schema, value, path)
        case bool() | None:
            pass
        case int() | float():
            yield from _number(schema, value, path)
        case list():
            yield from _list(schema, value, path)
    if "enum" in schema and not any(_same(value, option) for option in schema["enum"]):
        yield not_supported(path, value, [_option_text(option) for option in schema["enum"]])
    if isinstance(value, dict):
        yield from _object(schema, value, path)


def _same(left: Any, right: Any) -> bool:
    return bool(left == right) and isinstance(left, bool) == isinstance(right, bool)


def _option_text(option: Any) -> str:
    return option if isinstance(option, str) else _plain(option)


def _plain(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def _is_int64(value: float) -> bool:
    return -(2**63) <= value < 2**63 and value == int(value)


def _type_name(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case int() | float():
            return "integer" if _is_int64(value) else "number"
        case list():
            return "array"
    return "object"


def _wanted_types(schema: Schema) -> tuple[str, ...]:
    if schema.get("x-kubernetes-int-or-string"):
        return ("integer", "string")
    kind = schema.get("type")
    return (kind,) if kind else ()


def _type_violation(schema: Schema, value: Any, path: str) -> Violation | None:
    wanted = _wanted_types(schema)
    found = _type_name(value)
    if value is None and (schema.get("nullable") or not wanted):
        return None
    if not wanted or found in wanted or (found == "integer" and "number" in wanted):
        return None
    return type_invalid(
        path, found, f'{path} in body must be of type {",".join(wanted)}: "{found}"'
    )


def _text(schema: Schema, value: str, path: str) -> Iterator[Violation]:
    longest, shortest = schema.get("maxLength"), schema.get("minLength")
    if longest is not None and len(value) > longest:
        yield too_long(path, longest)
    if shortest is not None and len(value) < shortest:
        yield invalid(path, value, f"{path} in body should be at least {shortest} chars long")
    mismatch = _mismatch(schema.get("pattern") or "", value)
    if mismatch:
        yield invalid(path, value, f"{path} in body should match '{mismatch}'")
    name = schema.get("format")
    if name and not fits(name, value):
        yield type_invalid(path, value, f'{path} in body must be of type {name}: "{value}"')


def _mismatch(pattern: str, value: str) -> str:
    """Return the pattern as it is told when a text does not match it; "" when it does."""
    try:
        return "" if go_pattern(pattern).search(value) else pattern
    except ValueError as mistake:
        return f"{pattern}, but pattern is invalid: {mistake}"


def _number(schema: Schema, value: float, path: str) -> Iterator[Violation]:
    out_of_range = _out_of_range(schema, value)
    if out_of_range:
        yield invalid(_OUTSIDE, "", f"Checked value must be of type {out_of_range} in {path}")

    def bound(word: str) -> Any:
        # A whole number is compared with what is whole of a bound.
        limit = schema.get(word)
        return int(limit) if limit is not None and isinstance(value, int) else limit

    step, top, bottom = bound("multipleOf"), bound("maximum"), bound("minimum")
    if step and value % step:
        yield invalid(path, value, f"{path} in body should be a multiple of {_plain(step)}")
    if top is not None:
        exclusive = bool(schema.get("exclusiveMaximum"))
        if value >= top if exclusive else value > top:
            word = "less than" if exclusive else "less than or equal to"
            yield invalid(path, value, f"{path} in body should be {word} {_plain(top)}")
    if bottom is not None:
        exclusive = bool(schema.get("exclusiveMinimum"))
        if value <= bottom if exclusive else value < bottom:
            word = "greater than" if exclusive else "greater than or equal to"
            yield invalid(path, value, f"{path} in body should be {word} {_plain(bottom)}")


def _out_of_range(schema: Schema, value: float) -> str:
    """Return the type whose range a number is out of; "" for none."""
    kind, name = schema.get("type"), schema.get("format", "")
    if kind == "integer":
        if name == "int32":
            return (
                ""
                if _is_int64(value) and -(2**31) <= value < 2**31
                else ("integer with format int32")
            )
        if not _is_int64(value):
            return f"integer with format {name}" if name == "int64" else "integer (default format)"
    elif kind == "number" and name == "float" and abs(value) > _LARGEST_FLOAT:
        return "number with format float"
    return ""


def _list(schema: Schema, values: list[Any], path: str) -> Iterator[Violation]:
    items = schema.get("items")
    if items:
        for index, value in enumerate(values):
            yield from validate_schema(items, value, f"{path}[{index}]")
    shortest, longest = schema.get("minItems"), schema.get("maxItems")
    if shortest is not None and len(values) < shortest:
        yield invalid(path, len(values), f"{path} in body should have at least {shortest} items")
    if longest is not None and len(values) > longest:
        yield too_many(path, len(values), longest)
    if schema.get("uniqueItems") and any(
        _same(value, other) for at, value in enumerate(values) for other in values[:at]
    ):
        yield invalid(path, "", f"{path} in body shouldn't contain duplicates")


def _object(schema: Schema, tree: Tree, path: str) -> Iterator[Violation]:
    fewest, most = schema.get("minProperties"), schema.get("maxProperties")
    if fewest is not None and len(tree) < fewest:
        yield invalid(path, len(tree), f"{path} in body should have at least {fewest} properties")
        return
    if most is not None and len(tree) > most:
        yield too_many(path, len(tree), most)
        return
    properties = schema.get("properties") or {}
    values = schema.get("additionalProperties")
    for key, value in tree.items():
        part = properties.get(key)
        if part is None and isinstance(values, Mapping):
            part = values
        if part is not None:
            yield from validate_schema(part, value, f"{path}.{key}" if path else key)
    for key in schema.get("required") or ():
        if key not in tree:
            yield required(f"{path}.{key}" if path else key)


def _combined(schema: Schema, value: Any, path: str) -> Iterator[Violation]:
    """Judge allOf, anyOf, oneOf and not."""
    if schema.get("anyOf") and not schema.get("x-kubernetes-int-or-string"):
        branches = [list(validate_schema(part, value, path)) for part in schema["anyOf"]]
        if all(branches):
            yield _lost(path, "must validate at least one schema (anyOf)")
            yield from min(branches, key=len)
    if schema.get("oneOf"):
        branches = [list(validate_schema(part, value, path)) for part in schema["oneOf"]]
        valid = sum(not branch for branch in branches)
        if valid != 1:
            found = f"Found {valid} valid alternatives" if valid else "Found none valid"
            yield _lost(path, f"must validate one and only one schema (oneOf). {found}")
            if not valid:
                yield from min(branches, key=len)
    if schema.get("allOf"):
        branches = [list(validate_schema(part, value, path)) for part in schema["allOf"]]
        for branch in branches:
            yield from branch
        if any(branches):
            none = ". None validated" if all(branches) else ""
            yield _lost(path, f"must validate all the schemas (allOf){none}")
    if schema.get("not") and not any(validate_schema(schema["not"], value, path)):
        yield _lost(path, "must not validate the schema (not)")


def _lost(path: str, rule: str) -> Violation:
    return invalid(_OUTSIDE, "", f'"{path}" {rule}')


def _embedded(structure: Structure, value: Any, path: str) -> Iterator[Violation]:
    """Judge that embedded objects say what they are."""
    if isinstance(value, dict):
        if structure.embedded_resource:
            for name in ("apiVersion", "kind"):
                if not value.get(name):
                    yield required(f"{path}.{name}")
        for key, part in value.items():
            child = structure.items if structure.type == "map" else structure.fields.get(key)
            if child is not None and not child.model:
                yield from _embedded(child, part, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and structure.items is not None:
        for index, part in enumerate(value):
            yield from _embedded(structure.items, part, f"{path}[{index}]")


def _keyed_lists(structure: Structure, value: Any, path: str) -> Iterator[Violation]:
    """Judge that sets have no item twice, and keyed lists no key."""
    if isinstance(value, dict):
        for key, part in value.items():
            child = structure.items if structure.type == "map" else structure.fields.get(key)
            if child is not None and not child.model:
                yield from _keyed_lists(child, part, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and structure.items is not None:
        yield from _duplicates(structure, value, path)
        for index, part in enumerate(value):
            yield from _keyed_lists(structure.items, part, f"{path}[{index}]")


def _duplicates(structure: Structure, values: list[Any], path: str) -> Iterator[Violation]:
    if structure.list_type not in ("set", "map"):
        return
    seen: list[Any] = []
    told: list[Any] = []
    for index, value in enumerate(values):
        name: Any = value
        if structure.list_type == "map":
            if not isinstance(value, dict):
                continue
            name = {key: value[key] for key in structure.map_keys if key in value}
        if not any(_same(name, other) for other in seen):
            seen.append(name)
        elif not any(_same(name, other) for other in told):
            told.append(name)
            yield duplicate(f"{path}[{index}]", name)

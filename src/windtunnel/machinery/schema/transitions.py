"""The one rule about change that is judged so far: a value stays what it was.

``x-kubernetes-validations`` holds rules in CEL. Of these only ``self == oldSelf`` is known here, by
far the most common; a definition with any other is refused (``definition``), so that no rule is
accepted that never fires. A rule about change holds where a value has a counterpart in the old
object: in fields, in map values, and in lists whose items have keys.

Source: k8s.io/apiextensions-apiserver, v1.36; recorded answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from windtunnel.machinery.schema.validation import Schema
from windtunnel.machinery.violations import Violation, duplicate, forbidden, invalid, required

RULES: Final = "x-kubernetes-validations"
_STAYS: Final = frozenset({"self==oldSelf", "oldSelf==self"})
_OMITTED: Final = (dict, list)


def is_known(rule: Mapping[str, Any]) -> bool:
    """Say whether a rule is one that can be judged, its message included."""
    known = "".join(str(rule.get("rule", "")).split()) in _STAYS
    return known and not rule.get("messageExpression") and not rule.get("optionalOldSelf")


def is_followed(schema: Schema) -> bool:
    """Say whether the items of a list can be told to be the same ones as before."""
    return schema.get("x-kubernetes-list-type") == "map"


def validate_transition(
    schema: Schema, value: Any, before: Any, path: str = ""
) -> Iterator[Violation]:
    """Yield what a change from ``before`` to ``value`` breaks; ``path`` is the field's name."""
    for rule in schema.get(RULES) or ():
        if value != before:
            yield _broken(rule, value, path)
    if isinstance(value, dict) and isinstance(before, dict):
        properties = schema.get("properties") or {}
        values = schema.get("additionalProperties")
        for key, part in value.items():
            inner = properties.get(key, values)
            if isinstance(inner, Mapping) and key in before:
                place = f"{path}.{key}" if path else key
                yield from validate_transition(inner, part, before[key], place)
    elif isinstance(value, list) and isinstance(before, list) and is_followed(schema):
        keys = schema.get("x-kubernetes-list-map-keys") or ()
        old = {_name(item, keys): item for item in before}
        for index, item in enumerate(value):
            if _name(item, keys) in old:
                counterpart = old[_name(item, keys)]
                yield from validate_transition(
                    schema.get("items") or {}, item, counterpart, f"{path}[{index}]"
                )


def _name(item: Any, keys: Any) -> tuple[str, ...]:
    return tuple(repr(item.get(key)) for key in keys) if isinstance(item, dict) else (repr(item),)


def _broken(rule: Mapping[str, Any], value: Any, path: str) -> Violation:
    message = rule.get("message") or f"failed rule: {rule['rule'].strip()}"
    place = (path + (rule.get("fieldPath") or "")).lstrip(".") or "<nil>"
    match rule.get("reason"):
        case "FieldValueForbidden":
            return forbidden(place, message)
        case "FieldValueRequired":
            return required(place, message)
        case "FieldValueDuplicate":
            return duplicate(place, value)
    if isinstance(value, _OMITTED):
        return Violation(place, "FieldValueInvalid", f"Invalid value: {message}")
    return invalid(place, value, message)

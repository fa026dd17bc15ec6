"""Violations: what is wrong with a field, in the words of the Kubernetes validation library.

A violation is a value. The API server turns a list of them into one 422 answer, a test compares
them, a linter prints them. Source: k8s.io/apimachinery field errors, v1.36.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

_REASON_TEXT = {
    "FieldValueInvalid": "Invalid value",
    "FieldValueRequired": "Required value",
    "FieldValueNotSupported": "Unsupported value",
    "FieldValueDuplicate": "Duplicate value",
    "FieldValueForbidden": "Forbidden",
    "FieldValueNotFound": "Not found",
    "FieldValueTooLong": "Too long",
    "FieldValueTooMany": "Too many",
    "FieldValueTypeInvalid": "Invalid value",
    "InternalError": "Internal error",
}


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule: where, which sort, and the exact words.

    ``message`` is the text without the field (what ``details.causes[].message`` carries);
    ``str(violation)`` is the text with it.
    """

    field: str
    reason: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message

    def as_cause(self) -> dict[str, str]:
        """Return the entry of ``details.causes`` for this violation."""
        return {"reason": self.reason, "message": self.message, "field": self.field}


def show(value: Any) -> str:
    """Print a value as the validation library does: strings quoted, objects as JSON."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return msgspec.json.encode(value).decode()
    if isinstance(value, (int, float)):
        return repr(value)
    return msgspec.json.encode(value).decode()


def _violation(field: str, reason: str, value: str, detail: str) -> Violation:
    text = _REASON_TEXT[reason]
    if value:
        text += f": {value}"
    if detail:
        text += f": {detail}"
    return Violation(field, reason, text)


def invalid(field: str, value: Any, detail: str) -> Violation:
    """The value is of the right type but breaks a rule."""
    return _violation(field, "FieldValueInvalid", show(value), detail)


def type_invalid(field: str, value: Any, detail: str) -> Violation:
    """The value is of the wrong type."""
    return _violation(field, "FieldValueTypeInvalid", show(value), detail)


def required(field: str, detail: str = "") -> Violation:
    """The field is missing or empty."""
    return _violation(field, "FieldValueRequired", "", detail)


def duplicate(field: str, value: Any) -> Violation:
    """The value occurs twice where it must be unique."""
    return _violation(field, "FieldValueDuplicate", show(value), "")


def not_supported(field: str, value: Any, allowed: list[str]) -> Violation:
    """The value is none of ``allowed`` (printed in the order given, each quoted)."""
    detail = "supported values: " + ", ".join(show(item) for item in allowed) if allowed else ""
    return _violation(field, "FieldValueNotSupported", show(value), detail)


def forbidden(field: str, detail: str) -> Violation:
    """The field may not be set, or not to this, here and now."""
    return _violation(field, "FieldValueForbidden", "", detail)


def not_found(field: str, value: Any) -> Violation:
    """The value names something that does not exist."""
    return _violation(field, "FieldValueNotFound", show(value), "")


def too_long(field: str, limit: int) -> Violation:
    """The text is longer than ``limit`` bytes."""
    noun = "byte" if limit == 1 else "bytes"
    return _violation(field, "FieldValueTooLong", "", f"may not be more than {limit} {noun}")


def too_many(field: str, count: int, limit: int) -> Violation:
    """The list has more than ``limit`` items."""
    noun = "item" if limit == 1 else "items"
    return _violation(field, "FieldValueTooMany", str(count), f"must have at most {limit} {noun}")

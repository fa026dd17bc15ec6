"""Violations are worded as the validation library words them."""

from __future__ import annotations

import pytest

from windtunnel.machinery import violations
from windtunnel.machinery.violations import Violation

CASES: dict[str, tuple[Violation, str]] = {
    "an invalid text": (
        violations.invalid("spec.a", "x", "must be good"),
        'spec.a: Invalid value: "x": must be good',
    ),
    "an invalid number": (violations.invalid("a", -1, "too low"), "a: Invalid value: -1: too low"),
    "a missing value": (violations.required("a"), "a: Required value"),
    "a missing value, with advice": (violations.required("a", "or b"), "a: Required value: or b"),
    "a duplicate": (violations.duplicate("a[1]", "x"), 'a[1]: Duplicate value: "x"'),
    "an unsupported value": (
        violations.not_supported("a", "x", ["y", "z"]),
        'a: Unsupported value: "x": supported values: "y", "z"',
    ),
    "a forbidden field": (violations.forbidden("a", "not now"), "a: Forbidden: not now"),
    "something that is not there": (violations.not_found("a", "x"), 'a: Not found: "x"'),
    "a text that is too long": (
        violations.too_long("a", 63),
        "a: Too long: may not be more than 63 bytes",
    ),
    "too many items": (violations.too_many("a", 3, 2), "a: Too many: 3: must have at most 2 items"),
    "one item too many": (
        violations.too_many("a", 2, 1),
        "a: Too many: 2: must have at most 1 item",
    ),
    "no field at all": (Violation("", "FieldValueInvalid", "all wrong"), "all wrong"),
}


@pytest.mark.parametrize(("violation", "text"), CASES.values(), ids=CASES)
def test_words(violation: Violation, text: str) -> None:
    assert str(violation) == text


def test_a_cause_carries_the_text_without_the_field() -> None:
    assert violations.invalid("a", None, "no").as_cause() == {
        "reason": "FieldValueInvalid",
        "message": "Invalid value: null: no",
        "field": "a",
    }


SHOWN = {'"a\\"b"': 'a"b', "true": True, "1.5": 1.5, '{"a":[1]}': {"a": [1]}, "null": None}


@pytest.mark.parametrize(("text", "value"), SHOWN.items())
def test_values_are_shown_as_json(text: str, value: object) -> None:
    assert violations.show(value) == text

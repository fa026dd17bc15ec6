"""What stays what it was, and which rules are refused because nothing judges them."""

from __future__ import annotations

from typing import Any

import pytest

from windtunnel.machinery.schema import judge_definition, validate_transition

STAYS = [{"rule": "self == oldSelf", "message": "stays"}]
TEXT = {"type": "string", "x-kubernetes-validations": STAYS}
OBJECT = {"type": "object", "x-kubernetes-validations": STAYS, "properties": {"a": {}}}
KEYED = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    "items": {"type": "object", "properties": {"k": {"type": "string"}, "v": TEXT}},
}


def spec(part: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"f": part}}


CASES = {
    "a text that changes is shown": (TEXT, "x", "y", ['Invalid value: "y": stays']),
    "an object that changes is not shown": (
        OBJECT,
        {"a": 1},
        {"a": 2},
        ["Invalid value: stays"],
    ),
    "what stays is right": (OBJECT, {"a": 1}, {"a": 1}, []),
    "items with keys are followed": (
        KEYED,
        [{"k": "1", "v": "x"}, {"k": "2", "v": "x"}],
        [{"k": "2", "v": "y"}, {"k": "3", "v": "z"}, {"k": "1", "v": "x"}],
        ['Invalid value: "y": stays'],
    ),
    "values of maps are followed": (
        {"type": "object", "additionalProperties": TEXT},
        {"a": "x"},
        {"a": "y", "b": "new"},
        ['Invalid value: "y": stays'],
    ),
}


@pytest.mark.parametrize(("part", "old", "new", "wrong"), CASES.values(), ids=CASES)
def test_a_value_stays_what_it_was(part: Any, old: Any, new: Any, wrong: list[str]) -> None:
    found = [each.message for each in validate_transition(spec(part), {"f": new}, {"f": old})]

    assert found == wrong
    assert [*validate_transition(spec(part), {"f": new}, {})] == []


RULES = {
    "the known rule, however spaced": ({"rule": " oldSelf==self "}, True),
    "another rule": ({"rule": "self.a < 3"}, False),
    "a message to be computed": ({"rule": "self == oldSelf", "messageExpression": "'x'"}, False),
    "a rule that is to judge creations, too": (
        {"rule": "self == oldSelf", "optionalOldSelf": True},
        False,
    ),
}


@pytest.mark.parametrize(("rule", "known"), RULES.values(), ids=RULES)
def test_a_rule_that_cannot_be_judged_is_refused(rule: dict[str, Any], known: bool) -> None:
    part = {"type": "string", "x-kubernetes-validations": [rule]}

    assert (judge_definition(spec(part)) == []) is known


def test_a_rule_within_items_that_cannot_be_told_apart_is_refused() -> None:
    wrong = judge_definition(spec({"type": "array", "items": TEXT}))

    assert [each.field for each in wrong] == [
        "spec.validation.openAPIV3Schema.properties[f].items.x-kubernetes-validations[0].rule"
    ]

from __future__ import annotations

import pytest

from windtunnel.kinds.rules.conditions import validate_conditions
from windtunnel.machinery.tree import Tree

GOOD: Tree = {
    "type": "Ready",
    "status": "True",
    "reason": "AllWell",
    "message": "",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}


def test_a_complete_condition_is_fine() -> None:
    assert validate_conditions([GOOD], "status.conditions") == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"type": "a b"}, "c[0].type"),
        ({"status": "Maybe"}, "c[0].status"),
        ({"observedGeneration": -1}, "c[0].observedGeneration"),
        ({"lastTransitionTime": None}, "c[0].lastTransitionTime"),
        ({"reason": ""}, "c[0].reason"),
        ({"reason": "1st"}, "c[0].reason"),
        ({"reason": "R" * 1025}, "c[0].reason"),
        ({"message": "m" * 32769}, "c[0].message"),
    ],
)
def test_what_is_wrong_is_said_of_its_field(change: Tree, field: str) -> None:
    assert [found.field for found in validate_conditions([{**GOOD, **change}], "c")] == [field]


def test_a_type_occurs_once() -> None:
    found = validate_conditions([GOOD, GOOD], "c")

    assert [str(violation) for violation in found] == ['c[1].type: Duplicate value: "Ready"']

from __future__ import annotations

from typing import Any

import pytest

from windtunnel.kinds.rules import checks


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, []),
        (0, []),
        ("25%", []),
        (-1, ["f: Invalid value: -1: must be greater than or equal to 0"]),
    ],
)
def test_a_count_or_percentage_is_not_negative(value: Any, said: list[str]) -> None:
    assert [str(found) for found in checks.int_or_percent(value, "f")] == said


@pytest.mark.parametrize(
    ("value", "number"),
    [(None, 0), (3, 3), ("0%", 0), ("040%", 40), ("x", 0), ("9" * 5000 + "%", 0)],
)
def test_the_number_in_a_count_or_percentage(value: Any, number: int) -> None:
    assert checks.amount(value) == number


def test_a_percentage_that_nobody_can_count_is_not_too_large() -> None:
    assert checks.at_most_all("9" * 5000 + "%", "f") == []
    assert len(checks.at_most_all("101%", "f")) == 1


def test_struct_dumps_name_fields_as_go_does_but_keep_the_keys_of_maps() -> None:
    tree = {"apiGroup": "g", "uid": "u", "nodeSelector": {"app": "x"}, "items": [{"dnsPolicy": 1}]}

    assert checks.go_value(tree) == {
        "APIGroup": "g",
        "UID": "u",
        "NodeSelector": {"app": "x"},
        "Items": [{"DNSPolicy": 1}],
    }


def test_maps_are_shown_in_order_of_their_keys() -> None:
    selector = {"matchLabels": {"b": "1", "a": "2"}}

    assert list(checks.by_key(selector)["matchLabels"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("selector", "cell"),
    [
        (None, "<none>"),
        ({}, "<none>"),
        ({"matchLabels": {"b": "1", "a": "2"}}, "a=2,b=1"),
        ({"matchExpressions": [{"key": "a", "operator": "Foo"}]}, "<error>"),
    ],
)
def test_a_selector_in_a_table(selector: Any, cell: str) -> None:
    assert checks.selector_cell(selector) == cell


def test_an_unnamed_field_goes_with_its_old_value() -> None:
    new: dict[str, Any] = {"status": {"a": 1}}
    checks.restore(new, {}, "status")

    assert new == {}

from __future__ import annotations

import pytest

from windtunnel.machinery.selectors import (
    NOTHING,
    LabelSelector,
    MalformedSelector,
    validate_label_selector,
)

LABELS = {"app": "web", "tier": "front", "gpu": "8"}

MATCHING = {
    "": True,
    "app=web": True,
    "app==web": True,
    "app!=web": False,
    "app": True,
    "!app": False,
    "missing!=x": True,
    "app in (web, db)": True,
    "app notin (web)": False,
    "missing notin (web)": True,
    "gpu>4": True,
    "gpu < 4": False,
    "tier > 1": False,
    "app in ()": False,
    "app=web,tier=front,!missing": True,
    "app in (in)": False,
}


@pytest.mark.parametrize(("text", "want"), MATCHING.items())
def test_a_label_selector_selects(text: str, want: bool) -> None:
    assert LabelSelector.parse(text).matches(LABELS) is want


REFUSED = {
    "app in x": "unable to parse requirement: found 'x' expected: '('",
    "a b": "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
    "=a": "found '=', expected: !, identifier, or 'end of string'",
    "a,": "found '', expected: identifier after ','",
    "a=b c": "found 'c', expected: ',' or 'end of string'",
    "a>x": 'unable to parse requirement: values[0]: Invalid value: "x":'
    " for 'Gt', 'Lt' operators, the value must be an integer",
}


@pytest.mark.parametrize(("text", "want"), REFUSED.items())
def test_a_malformed_selector_is_refused_in_the_servers_words(text: str, want: str) -> None:
    with pytest.raises(MalformedSelector) as refusal:
        LabelSelector.parse(text)
    assert str(refusal.value) == want


def test_no_selector_object_selects_nothing_and_an_empty_one_everything() -> None:
    assert LabelSelector.from_tree(None) == NOTHING
    assert LabelSelector.from_tree({}).matches(LABELS)


def test_a_selector_object_needs_all_of_its_conditions() -> None:
    selector = LabelSelector.from_tree(
        {
            "matchLabels": {"app": "web"},
            "matchExpressions": [{"key": "tier", "operator": "In", "values": ["front", "back"]}],
        }
    )

    assert selector.matches(LABELS)
    assert not selector.matches({"app": "web"})


@pytest.mark.parametrize("text", ["a=b", "a!=b", "a in (b,c)", "a notin (b)", "a", "!a", "a>1,b"])
def test_a_selector_prints_as_it_was_written(text: str) -> None:
    assert str(LabelSelector.parse(text)) == text


def test_a_selector_object_is_judged_term_by_term() -> None:
    tree = {
        "matchLabels": {"a": "b c"},
        "matchExpressions": [
            {"key": "x", "operator": "Foo"},
            {"key": "y", "operator": "In"},
            {"key": "z", "operator": "Exists", "values": ["1"]},
        ],
    }

    found = [(v.field, v.reason) for v in validate_label_selector(tree, "spec.selector")]

    assert found == [
        ("spec.selector.matchLabels", "FieldValueInvalid"),
        ("spec.selector.matchExpressions[0].operator", "FieldValueInvalid"),
        ("spec.selector.matchExpressions[1].values", "FieldValueRequired"),
        ("spec.selector.matchExpressions[2].values", "FieldValueForbidden"),
    ]

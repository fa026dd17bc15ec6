"""Terms about other pods, and spread constraints as pods write them."""

from __future__ import annotations

import pytest

from windtunnel.fleet.pod_terms import affinity_term, spread_constraint
from windtunnel.machinery.tree import Tree

NAMESPACES = {"default": {}, "red": {"team": "red"}}

ANY: Tree = {"topologyKey": "zone", "labelSelector": {}}

CASES = {
    "its own namespace where none is named": (ANY, "default", True),
    "not another one": (ANY, "red", False),
    "a named namespace only": ({**ANY, "namespaces": ["red"]}, "default", False),
    "a namespace by label": (
        {**ANY, "namespaceSelector": {"matchLabels": {"team": "red"}}},
        "red",
        True,
    ),
    "an empty namespace selector means all": ({**ANY, "namespaceSelector": {}}, "elsewhere", True),
    "no label selector matches nothing": ({"topologyKey": "zone"}, "default", False),
}


@pytest.mark.parametrize(("tree", "namespace", "want"), CASES.values(), ids=CASES)
def test_a_term_means(tree: Tree, namespace: str, want: bool) -> None:
    term = affinity_term(tree, "default")

    assert term.pods.matches(namespace, {"app": "x"}, NAMESPACES) is want


def test_match_label_keys_ask_for_the_pods_own_value() -> None:
    tree = {"topologyKey": "zone", "labelSelector": {}, "matchLabelKeys": ["app", "absent"]}

    constraint = spread_constraint(tree, {"app": "x"})

    assert constraint.selector.matches({"app": "x"})
    assert not constraint.selector.matches({"app": "y"})


def test_an_empty_selector_counts_nobody_but_matches_the_pod() -> None:
    constraint = spread_constraint({"topologyKey": "zone", "labelSelector": {}}, {})

    (term,) = constraint.counted_in("default").terms
    assert not term.matches("default", {"app": "x"}, NAMESPACES)
    assert constraint.selector.matches({})

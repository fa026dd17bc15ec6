"""Node selectors: an OR of terms, each an AND."""

from __future__ import annotations

import pytest

from windtunnel.fleet.node_terms import NodeChoice, node_term, node_terms
from windtunnel.machinery.tree import Tree


def label(key: str, operator: str, *values: str) -> Tree:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def name(*values: str, operator: str = "In") -> Tree:
    field = {"key": "metadata.name", "operator": operator, "values": list(values)}
    return {"matchFields": [field]}


CASES = {
    "In": (label("tier", "In", "gold", "silver"), True),
    "NotIn a label it has": (label("tier", "NotIn", "gold"), False),
    "NotIn a label it lacks": (label("rack", "NotIn", "1"), True),
    "Exists": (label("tier", "Exists"), True),
    "DoesNotExist": (label("tier", "DoesNotExist"), False),
    "Gt compares numbers": (label("count", "Gt", "9"), True),
    "Lt of something that is no number": (label("tier", "Lt", "9"), False),
    "a field": (name("a"), True),
    "a field that excludes": (name("a", operator="NotIn"), False),
    "an empty term matches nothing": ({}, False),
    "both parts must hold": ({**label("tier", "Exists"), **name("b")}, False),
}


@pytest.mark.parametrize(("tree", "want"), CASES.values(), ids=CASES)
def test_a_term(tree: Tree, want: bool) -> None:
    assert node_term(tree).matches("a", {"tier": "gold", "count": "10"}) is want


def test_one_matching_term_is_enough() -> None:
    terms = node_terms({"nodeSelectorTerms": [name("b"), label("tier", "Exists")]})

    assert NodeChoice(terms=terms).matches("a", {"tier": "x"})


def test_no_terms_at_all_match_nothing() -> None:
    assert not NodeChoice(terms=node_terms({"nodeSelectorTerms": []})).matches("a", {})


def test_pinned_names_are_what_all_fields_leave() -> None:
    fields = [*name("a", "b")["matchFields"], *name("b", "c")["matchFields"]]

    assert node_term({"matchFields": fields}).pinned_names() == {"b"}
    assert node_term(label("tier", "Exists")).pinned_names() is None

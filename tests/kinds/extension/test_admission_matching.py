from __future__ import annotations

import pytest

from windtunnel.kinds.extension import admission_matching as matching
from windtunnel.machinery.tree import Tree


def test_a_match_says_what_it_leaves_open() -> None:
    match: Tree = {"resourceRules": [{"apiGroups": [""]}]}
    matching.default_match_resources(match)

    assert match["matchPolicy"] == "Equivalent"
    assert match["namespaceSelector"] == match["objectSelector"] == {}
    assert match["resourceRules"][0]["scope"] == "*"


@pytest.mark.parametrize(("evaluated", "count"), [(True, 1), (False, 0)])
def test_a_condition_in_cel_is_refused_only_where_it_would_have_to_be_asked(
    evaluated: bool, count: int
) -> None:
    conditions = [{"name": "a", "expression": "true"}]

    assert len(matching.validate_conditions(conditions, "c", evaluated=evaluated)) == count


def test_deletes_have_nothing_to_mutate() -> None:
    match: Tree = {"resourceRules": [{"operations": ["CREATE", "DELETE"]}]}

    assert [str(found) for found in matching.only_mutable_operations(match, "m")] == [
        'm.resourceRules.operations: Unsupported value: "DELETE":'
        ' supported values: "*", "CONNECT", "CREATE", "UPDATE"'
    ]

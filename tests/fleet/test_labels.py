"""Labels as columns: answers per value, sums per domain."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.fleet.labels import NodeLabels
from windtunnel.fleet.node_terms import NodeChoice, node_term, node_terms

NAMES = ["a", "b", "c"]
LABELS: list[dict[str, str]] = [{"zone": "x", "n": "5"}, {"zone": "y"}, {}]


def test_a_column_numbers_values_and_marks_what_is_missing() -> None:
    column = NodeLabels(NAMES, LABELS).column("zone")

    assert column.ids.tolist() == [0, 1, -1]
    assert column.values == ("x", "y")
    assert column.present.tolist() == [True, True, False]


def test_totals_sum_over_a_domain_and_are_zero_outside() -> None:
    column = NodeLabels([*NAMES, "d"], [*LABELS, {"zone": "x"}]).column("zone")

    totals = column.totals(np.array([1, 2, 4, 8]))

    assert totals[column.ids].tolist() == [9, 2, 0, 9]


TREES = st.sampled_from(
    [
        {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["x"]}]},
        {"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["x"]}]},
        {"matchExpressions": [{"key": "n", "operator": "Gt", "values": ["4"]}]},
        {"matchExpressions": [{"key": "n", "operator": "DoesNotExist"}]},
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b", "z"]}]},
        {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["b"]}]},
        {},
    ]
)


@given(st.lists(TREES, max_size=3))
def test_all_rows_at_once_is_each_row_by_itself(trees: list[dict[str, object]]) -> None:
    choice = NodeChoice(terms=node_terms({"nodeSelectorTerms": trees}))

    together = NodeLabels(NAMES, LABELS).chosen(choice).tolist()

    assert together == [choice.matches(*row) for row in zip(NAMES, LABELS, strict=True)]


@given(TREES)
def test_a_single_term_is_answered_the_same_way(tree: dict[str, object]) -> None:
    term = node_term(tree)

    together = NodeLabels(NAMES, LABELS).matching(term).tolist()

    assert together == [term.matches(*row) for row in zip(NAMES, LABELS, strict=True)]


ROWS = st.tuples(st.integers(0, 2), st.sampled_from(LABELS))


@given(st.lists(ROWS, max_size=4), st.lists(TREES, min_size=1, max_size=3))
def test_labels_learned_later_answer_as_if_they_had_always_been(
    learned: list[tuple[int, dict[str, str]]], trees: list[dict[str, object]]
) -> None:
    choice = NodeChoice(terms=node_terms({"nodeSelectorTerms": trees}))
    labels = list(LABELS)
    made = NodeLabels(NAMES, LABELS)
    for row, one in learned:
        made.chosen(choice)
        made.relabel(row, one)
        labels[row] = one

    fresh = NodeLabels(NAMES, labels)
    assert made.chosen(choice).tolist() == fresh.chosen(choice).tolist()
    assert made.column("zone").present.tolist() == fresh.column("zone").present.tolist()

"""Counts of pods that questions ask for."""

from __future__ import annotations

import numpy as np
from tests.build import pod

from windtunnel.fleet.pod_terms import PodQuery, affinity_term
from windtunnel.fleet.tally import Tally

TERM = affinity_term(
    {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "x"}}}, "default"
)
QUERY = PodQuery((TERM.pods,))
LIVING = PodQuery((TERM.pods,), terminating=False)


def tally(rows: int = 2) -> Tally:
    made = Tally({})
    made.rearrange(np.full(rows, -1))
    return made


def test_a_question_is_counted_from_what_is_there_and_then_moves() -> None:
    counts = tally()
    there = [(pod("a", labels={"app": "x"}), 0), (pod("b", labels={"app": "y"}), 1)]

    column = counts.count(QUERY, lambda: there)
    assert column.tolist() == [1, 0]

    counts.move(pod("c", labels={"app": "x"}), 1, 1)
    assert counts.count(QUERY, list).tolist() == [1, 1]


def test_terminating_pods_count_only_where_they_are_asked_for() -> None:
    leaving = pod(labels={"app": "x"}, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})

    counts = tally()

    assert counts.count(QUERY, lambda: [(leaving, 0)]).tolist() == [1, 0]
    assert counts.count(LIVING, lambda: [(leaving, 0)]).tolist() == [0, 0]


def test_terms_that_pods_carry_are_counted_always() -> None:
    affinity = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "x"}}}
            ]
        }
    }
    counts = tally()
    assert not counts.any_carried

    counts.move(pod(affinity=affinity), 1, 1)

    assert counts.any_carried
    assert {term: list(column) for term, column in counts.carried("anti_affinity").items()} == {
        TERM: [0, 1]
    }


def test_rows_move_with_their_counts() -> None:
    counts = tally()
    counts.count(QUERY, lambda: [(pod(labels={"app": "x"}), 1)])
    counts.rearrange(np.array([1, 0, -1]))

    assert counts.count(QUERY, list).tolist() == [1, 0, 0]

"""Views: some rows of the fleet, read-only."""

from __future__ import annotations

import numpy as np
import pytest
from tests.build import GPU, fleet, gpus, node, pod

from windtunnel.fleet.taints import HARD, Toleration

TAINT = [{"key": "k", "value": "v", "effect": "NoSchedule"}]


def test_a_view_answers_for_its_rows_and_knows_the_whole() -> None:
    made = fleet(node("a"), node("b", allocatable=gpus(4)), pods=(pod(node="b", requests=gpus(3)),))
    view = made.view(np.array([1]))

    assert len(view) == 1
    assert view.having(GPU).tolist() == [4]
    assert view.using(GPU).tolist() == [3]
    assert len(view.whole) == 2


def test_a_resource_nobody_has_is_zero() -> None:
    assert fleet(node()).view().having("example.com/none").tolist() == [0]


def test_a_view_cannot_be_written() -> None:
    view = fleet(node()).view()

    with pytest.raises(ValueError, match="read-only"):
        view.having(GPU)[0] = 1


def test_taints_are_judged_per_distinct_set() -> None:
    made = fleet(node("a"), node("b", taints=TAINT), node("c", taints=TAINT))

    assert made.view().untolerated((), HARD).tolist() == [0, 1, 1]
    assert made.view().untolerated((Toleration("k", "Exists"),), HARD).tolist() == [0, 0, 0]


def test_a_ladder_is_one_row_with_more_and_more_pods() -> None:
    made = fleet(node())
    shape = pod(requests=gpus(2)).shape

    ladder = made.ladder(0, shape, 3)

    assert ladder.using(GPU).tolist() == [0, 2, 4]
    assert ladder.having(GPU).tolist() == [8, 8, 8]
    assert made.view().using(GPU).tolist() == [0]

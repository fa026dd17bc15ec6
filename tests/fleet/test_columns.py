"""The two matrices: columns appear when a resource is first named, rows keep their numbers."""

from __future__ import annotations

import numpy as np
from tests.build import GPU, gpus, node, pod

from windtunnel.fleet.columns import PODS, Columns


def columns(*rows: object) -> Columns:
    made = Columns()
    made.rearrange(np.full(len(rows), -1))
    made.set_nodes(dict(enumerate(rows)))  # type: ignore[arg-type]
    return made


def test_a_resource_gets_a_column_when_a_node_or_a_pod_names_it() -> None:
    made = columns(node())
    vector = made.vector(pod(requests={"example.com/new": "2"}).shape)

    assert made.capacity[0, made.index[GPU]] == 8
    assert vector[made.index["example.com/new"]] == 2
    assert vector[PODS] == 1


def test_names_that_nodes_do_not_account_for_get_none() -> None:
    made = columns(node())
    made.vector(pod(requests={"odd": "2"}).shape)

    assert "odd" not in made.index


def test_rows_move_with_their_numbers() -> None:
    made = columns(node("a", allocatable=gpus(1)), node("b", allocatable=gpus(2)))
    made.rearrange(np.array([1, -1, 0]))

    assert made.capacity[:, made.index[GPU]].tolist() == [2, 0, 1]


def test_equal_capacity_is_one_kind() -> None:
    made = columns(node("a"), node("b"), node("c", allocatable=gpus(4)))

    first, second, third = made.kinds
    assert first == second != third

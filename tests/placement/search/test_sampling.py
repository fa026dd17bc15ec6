"""Sampling, rotation and the tie-break."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.placement.search.sampling import feasible_wanted, heap_ranks, walk, winner

WANTED = {
    "few nodes are all looked at": (99, 0, 99),
    "adaptive at 1,000": (1000, 0, 420),
    "adaptive at 5,000": (5000, 0, 500),
    "adaptive never below five per cent": (20000, 0, 1000),
    "never below a hundred": (150, 10, 100),
    "a percentage": (1000, 30, 300),
    "all": (1000, 100, 1000),
}


@pytest.mark.parametrize(("nodes", "percentage", "want"), WANTED.values(), ids=WANTED)
def test_feasible_wanted(nodes: int, percentage: int, want: int) -> None:
    assert feasible_wanted(nodes, percentage) == want


def slow_walk(passes: list[bool], start: int, wanted: int) -> tuple[list[int], int, int | None]:
    """Walk node by node, as the real scheduler does."""
    found: list[int] = []
    for step in range(len(passes)):
        place = (start + step) % len(passes)
        if not passes[place]:
            continue
        if len(found) == wanted:
            return found, step, place
        found.append(place)
    return found, len(passes), None


@given(st.lists(st.booleans(), min_size=1, max_size=40), st.integers(0, 39), st.integers(1, 12))
def test_a_walk_is_what_walking_node_by_node_finds(
    passes: list[bool], start: int, wanted: int
) -> None:
    start %= len(passes)

    found, passed, surplus = walk(np.flatnonzero(passes), len(passes), start, wanted)

    assert (found.tolist(), passed, surplus) == slow_walk(passes, start, wanted)


def heap_winner(totals: list[int]) -> int:
    """Take the winner from a heap that is sifted as Go's container/heap does."""
    heap = [(-total, place) for place, total in enumerate(totals)]

    def less(left: int, right: int) -> bool:
        return heap[left][0] < heap[right][0]

    for root in range(len(heap) // 2 - 1, -1, -1):
        at = root
        while (child := 2 * at + 1) < len(heap):
            if child + 1 < len(heap) and less(child + 1, child):
                child += 1
            if not less(child, at):
                break
            heap[at], heap[child] = heap[child], heap[at]
            at = child
    return heap[0][1]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=60))
def test_the_winner_is_what_a_heap_gives_first(totals: list[int]) -> None:
    assert winner(np.array(totals)) == heap_winner(totals)


def test_ranks_are_the_pre_order_of_the_heap() -> None:
    assert heap_ranks(7).tolist() == [0, 1, 4, 2, 3, 5, 6]

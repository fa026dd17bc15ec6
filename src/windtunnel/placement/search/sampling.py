"""How many nodes are looked at, and which of equals wins.

The scheduler walks nodes from where the last walk ended and stops when it has found enough feasible
ones. Among equal totals the winner is what a binary heap over the feasible list gives first: not
chance, but the first maximum in the heap's pre-order.

Source: kube-scheduler v1.36 with parallelism 1.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from windtunnel.fleet import Ints

_FEWEST: Final = 100
"""Below so many nodes all are looked at, and so many feasible ones are always wanted."""


def feasible_wanted(nodes: int, percentage: int) -> int:
    """Return after how many feasible nodes the walk stops; percentage 0 adapts to the size."""
    if nodes < _FEWEST:
        return nodes
    if percentage == 0:
        percentage = max(50 - nodes // 125, 5)
    if percentage >= 100:
        return nodes
    return max(nodes * percentage // 100, _FEWEST)


class Walk(NamedTuple):
    """One walk over the nodes."""

    found: Ints
    """Feasible places, in the order of the walk."""
    passed: int
    """How many places were looked at, without the feasible one that was too many."""
    surplus: int | None = None
    """The feasible one that was too many, where there was one."""


def walk(feasible: Ints, places: int, start: int, wanted: int) -> Walk:
    """Walk ``places`` in a circle from ``start`` until ``wanted`` feasible ones are found."""
    first = int(feasible.searchsorted(start))
    count = len(feasible)
    if count <= wanted:
        found = feasible if first == 0 else np.concatenate((feasible[first:], feasible[:first]))
        return Walk(found, places)
    last = first + wanted
    if last < count:
        surplus = int(feasible[last])
        return Walk(feasible[first:last], surplus - start, surplus)
    surplus = int(feasible[last - count])
    found = np.concatenate((feasible[first:], feasible[: last - count]))
    return Walk(found, (surplus - start) % places, surplus)


@lru_cache(maxsize=64)
def heap_ranks(length: int) -> Ints:
    """Return each place's rank in the pre-order of an implicit binary heap."""
    ranks = np.empty(length, np.int64)
    waiting = [0] if length else []
    rank = 0
    while waiting:
        place = waiting.pop()
        ranks[place] = rank
        rank += 1
        for child in (2 * place + 2, 2 * place + 1):
            if child < length:
                waiting.append(child)
    ranks.flags.writeable = False
    return ranks


def winner(totals: Ints) -> int:
    """Return the place of the winner among feasible nodes in the order of the walk."""
    count = len(totals)
    keyed = totals * count
    keyed -= heap_ranks(count)
    return int(keyed.argmax())

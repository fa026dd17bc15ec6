"""What every node has and what its pods take, as two matrices, and what else is told of a node.

Both matrices have the same columns, so that one addition places a pod and one row of bytes is the
whole state of a node as far as resources go. The first columns are the pod count and the two sums
that scores read; a column is added when a resource is first named by anyone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar, cast

import numpy as np

from windtunnel.fleet.arrays import Bools, Ints
from windtunnel.fleet.node import NodeFacts
from windtunnel.fleet.requests import counts_as_scalar
from windtunnel.fleet.shape import Shape
from windtunnel.fleet.taints import Taints

Column = TypeVar("Column", Bools, Ints)
Set = TypeVar("Set", bound=tuple[object, ...])

PODS: Final = 0
NONZERO_CPU: Final = 1
NONZERO_MEMORY: Final = 2
_FIRST: Final = ("pods", "cpu, non-zero", "memory, non-zero", "cpu", "memory", "ephemeral-storage")


class Columns:
    """Capacity and load, one row a node."""

    def __init__(self) -> None:
        self.index: dict[str, int] = {name: place for place, name in enumerate(_FIRST)}
        self.capacity: Ints = np.zeros((0, len(_FIRST)), np.int64)
        self.load: Ints = np.zeros((0, len(_FIRST)), np.int64)
        self.kinds: list[int] = []
        """Interned capacity of each row: equal numbers, equal kind."""
        self.unschedulable: Bools = np.zeros(0, np.bool_)
        """Cordoned rows."""
        self.taint_sets: list[Taints] = []
        self.taint_set: Ints = np.zeros(0, np.int64)
        """Index into ``taint_sets`` by row."""
        self.feature_sets: list[tuple[str, ...]] = []
        self.feature_set: Ints = np.zeros(0, np.int64)
        """Index into ``feature_sets`` by row."""
        self._kind_ids: dict[bytes, int] = {}
        self._taint_ids: dict[Taints, int] = {}
        self._feature_ids: dict[tuple[str, ...], int] = {}

    def column(self, resource: str) -> int:
        """Return the resource's column, adding one where it is new."""
        place = self.index.get(resource)
        if place is None:
            place = self.index[resource] = len(self.index)
            self.capacity = np.pad(self.capacity, ((0, 0), (0, 1)))
            self.load = np.pad(self.load, ((0, 0), (0, 1)))
            self._kind_ids.clear()
            self.kinds = [self._kind(row) for row in range(len(self.kinds))]
        return place

    def set_nodes(self, nodes: Mapping[int, NodeFacts]) -> None:
        """Write what the nodes of some rows are; nodes that name the same resources at once."""
        alike: dict[tuple[str, ...], list[int]] = {}
        for row, facts in nodes.items():
            alike.setdefault(tuple(facts.allocatable), []).append(row)
            self.unschedulable[row] = facts.unschedulable
            self.taint_set[row] = _interned(facts.taints, self._taint_ids, self.taint_sets)
            self.feature_set[row] = _interned(facts.features, self._feature_ids, self.feature_sets)
        for names, rows in alike.items():
            places = [PODS, *map(self.column, names)]
            numbers = np.zeros((len(rows), len(self.index)), np.int64)
            numbers[:, places] = [
                (nodes[row].allowed_pods, *nodes[row].allocatable.values()) for row in rows
            ]
            self.capacity[rows] = numbers
            written, width = numbers.tobytes(), numbers.strides[0]
            for place, row in enumerate(rows):
                state = written[place * width : (place + 1) * width]
                self.kinds[row] = self._kind_ids.setdefault(state, len(self._kind_ids))

    def vector(self, shape: Shape) -> Ints:
        """Return what one pod of a shape adds to a row."""
        wanted = {
            self.column(name): value
            for name, value in shape.requests.items()
            if name in _FIRST or counts_as_scalar(name)
        }
        found = np.zeros(len(self.index), np.int64)
        for place, value in wanted.items():
            found[place] = value
        found[PODS] = 1
        found[NONZERO_CPU], found[NONZERO_MEMORY] = shape.nonzero
        return found

    def rearrange(self, sources: Ints) -> None:
        """Bring rows into another order; a source of -1 makes an empty row."""
        kept = sources >= 0

        def moved(column: Column) -> Column:
            fresh = np.zeros((len(sources), *column.shape[1:]), column.dtype)
            fresh[kept] = column[sources[kept]]
            return cast(Column, fresh)

        self.capacity, self.load = moved(self.capacity), moved(self.load)
        self.unschedulable, self.taint_set = moved(self.unschedulable), moved(self.taint_set)
        self.feature_set = moved(self.feature_set)
        self.kinds = [self.kinds[source] if source >= 0 else -1 for source in sources.tolist()]

    def _kind(self, row: int) -> int:
        return self._kind_ids.setdefault(self.capacity[row].tobytes(), len(self._kind_ids))


def _interned(one: Set, ids: dict[Set, int], ever: list[Set]) -> int:
    """Return the number of a set, giving it one where it is new."""
    known = ids.get(one)
    if known is None:
        known = ids[one] = len(ever)
        ever.append(one)
    return known

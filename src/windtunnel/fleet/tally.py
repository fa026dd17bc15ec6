"""Counts per node of the pods that questions ask for, kept up to date pod by pod.

A question is counted from scratch when it is first asked and then moves with every pod, so that
topology spread and affinity cost one sum over domains, however many pods there are. Terms that pods
carry themselves (existing pods' affinity) are counted the same way, always.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Literal
from weakref import WeakKeyDictionary

import numpy as np

from windtunnel.fleet.arrays import Ints
from windtunnel.fleet.pod import PodView
from windtunnel.fleet.pod_terms import AffinityTerm, NamespaceLabels, PodQuery
from windtunnel.fleet.shape import Shape

Carried = Literal["affinity", "anti_affinity", "preferred_affinity", "preferred_anti_affinity"]
CARRIED: Final[tuple[Carried, ...]] = (
    "affinity",
    "anti_affinity",
    "preferred_affinity",
    "preferred_anti_affinity",
)
_KEPT: Final = 128
"""Questions kept; the one asked longest ago is forgotten first."""


class _Count:
    """One question's column, and which shapes it means."""

    def __init__(self, query: PodQuery, rows: int, namespaces: NamespaceLabels) -> None:
        self.query = query
        self.column: Ints = np.zeros(rows, np.int64)
        self._namespaces = namespaces
        self._hits: WeakKeyDictionary[Shape, bool] = WeakKeyDictionary()

    def means(self, pod: PodView) -> bool:
        """Say whether the pod counts."""
        if pod.terminating and not self.query.terminating:
            return False
        hit = self._hits.get(pod.shape)
        if hit is None:
            shape = pod.shape
            hit = self._hits[shape] = all(
                term.matches(shape.namespace, shape.labels, self._namespaces)
                for term in self.query.terms
            )
        return hit


class Tally:
    """All columns of counts."""

    def __init__(self, namespaces: NamespaceLabels) -> None:
        self._namespaces = namespaces
        self._counts: OrderedDict[PodQuery, _Count] = OrderedDict()
        self._carried: dict[Carried, dict[AffinityTerm, Ints]] = {kind: {} for kind in CARRIED}
        self.any_carried = False
        """Whether any term was carried since rows were last brought into order."""
        self._rows = 0

    def move(self, pod: PodView, row: int, by: int) -> None:
        """Count one pod in (``by`` 1) or out (-1) of a row."""
        for count in self._counts.values():
            if count.means(pod):
                count.column[row] += by
        if pod.shape.has_pod_terms:
            self.any_carried = True
            for kind in CARRIED:
                for term in getattr(pod.shape, kind):
                    column = self._carried[kind].get(term)
                    if column is None:
                        column = self._carried[kind][term] = np.zeros(self._rows, np.int64)
                    column[row] += by

    def count(self, query: PodQuery, pods: Callable[[], Iterable[tuple[PodView, int]]]) -> Ints:
        """Return the column of a question; ``pods`` yields every pod and its row."""
        found = self._counts.get(query)
        if found is None:
            found = self._counts[query] = _Count(query, self._rows, self._namespaces)
            for pod, row in pods():
                if found.means(pod):
                    found.column[row] += 1
            if len(self._counts) > _KEPT:
                self._counts.popitem(last=False)
        else:
            self._counts.move_to_end(query)
        return found.column

    def carried(self, kind: Carried) -> Mapping[AffinityTerm, Ints]:
        """Return the terms of one kind that pods have carried, and how many on each row."""
        return self._carried[kind]

    def queries(self) -> tuple[PodQuery, ...]:
        """Return the questions that are kept."""
        return tuple(self._counts)

    def forget(self) -> None:
        """Drop all questions: what namespaces are called has changed."""
        self._counts.clear()

    def rearrange(self, sources: Ints) -> None:
        """Bring rows into another order; a source of -1 makes an empty row."""
        self._rows = len(sources)
        kept = sources >= 0

        def moved(column: Ints) -> Ints:
            fresh = np.zeros(len(sources), np.int64)
            fresh[kept] = column[sources[kept]]
            return fresh

        for count in self._counts.values():
            count.column = moved(count.column)
        for kind, terms in self._carried.items():
            self._carried[kind] = {
                term: moved(column) for term, column in terms.items() if column.any()
            }
        self.any_carried = any(self._carried.values())

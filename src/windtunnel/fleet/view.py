"""What rules of placement see: read-only columns over all rows of the fleet, or over some.

A view is a window, not a copy: it is true until the fleet changes. Questions about the whole fleet
(domains, counts) go to ``whole``; answers are given for the view's own rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from windtunnel.fleet.arrays import Bools, Ints, Rows
from windtunnel.fleet.columns import NONZERO_CPU, NONZERO_MEMORY, PODS
from windtunnel.fleet.labels import LabelColumn
from windtunnel.fleet.node_terms import NodeChoice, NodeTerm
from windtunnel.fleet.pod import PodView
from windtunnel.fleet.pod_terms import AffinityTerm, NamespaceLabels, PodQuery
from windtunnel.fleet.shape import HostPort
from windtunnel.fleet.taints import UNSCHEDULABLE, Tolerations, untolerated
from windtunnel.fleet.tally import Carried
from windtunnel.machinery.selectors import LabelSelector

if TYPE_CHECKING:
    from windtunnel.fleet.fleet import Fleet

ALL_ROWS = slice(None)


class FleetView:
    """Some rows of a fleet; get one from ``Fleet.view``."""

    __slots__ = ("_fleet", "_instead", "_rows")

    def __init__(self, fleet: Fleet, rows: Rows, instead: tuple[Ints, Ints] | None = None) -> None:
        """Look at ``rows``; ``instead``, where given, stands in for their capacity and load."""
        self._fleet, self._rows, self._instead = fleet, rows, instead

    def __len__(self) -> int:
        if isinstance(self._rows, slice):
            return len(range(*self._rows.indices(len(self._fleet.names))))
        return len(self._rows)

    @property
    def whole(self) -> FleetView:
        """The view of all rows."""
        return self._fleet.view()

    def rows(self, rows: Rows) -> FleetView:
        """Return the view of some rows of the whole fleet."""
        return FleetView(self._fleet, rows)

    def having(self, resource: str) -> Ints:
        """Return how much of a resource nodes have; 0 where nobody has heard of it."""
        return self._capacity(self._fleet.column_of.get(resource))

    def using(self, resource: str) -> Ints:
        """Return how much of a resource their pods take."""
        return self._taken(self._fleet.column_of.get(resource))

    @property
    def nonzero_cpu(self) -> Ints:
        """Cpu in use, with a little for containers that do not say. Shape (rows,)."""
        return self._taken(NONZERO_CPU)

    @property
    def nonzero_memory(self) -> Ints:
        """Memory in use, with a little for containers that do not say. Shape (rows,)."""
        return self._taken(NONZERO_MEMORY)

    @property
    def pods(self) -> Ints:
        """Number of pods. Shape (rows,)."""
        return self._taken(PODS)

    @property
    def allowed_pods(self) -> Ints:
        """How many pods fit. Shape (rows,)."""
        return self._capacity(PODS)

    @property
    def unschedulable(self) -> Bools:
        """Cordoned nodes. Shape (rows,)."""
        return self._fleet.unschedulable[self._rows]

    def label(self, key: str) -> LabelColumn:
        """Return one label of the view's rows."""
        column = self._fleet.node_labels.column(key)
        return LabelColumn(column.ids[self._rows], column.values)

    def chosen(self, choice: NodeChoice) -> Bools:
        """Return the rows that a pod's demands on its node leave."""
        return self._fleet.node_labels.chosen(choice)[self._rows]

    def matching(self, term: NodeTerm) -> Bools:
        """Return the rows that one node term means."""
        return self._fleet.node_labels.matching(term)[self._rows]

    def named(self, names: Sequence[str]) -> Bools:
        """Return the rows of the nodes with these names."""
        found = np.zeros(len(self._fleet.names), np.bool_)
        rows = self._fleet.row_of
        found[[rows[name] for name in names if name in rows]] = True
        return found[self._rows]

    def untolerated(self, tolerations: Tolerations, effects: frozenset[str]) -> Ints:
        """Return how many taints with one of ``effects`` no toleration covers. Shape (rows,)."""
        counts = [
            len(untolerated(taints, tolerations, effects)) for taints in self._fleet.taint_sets
        ]
        return np.array(counts, np.int64)[self._fleet.taint_set[self._rows]]

    def cordoned(self, tolerations: Tolerations) -> Bools:
        """Return the cordoned rows that the tolerations do not open."""
        if any(one.tolerates(UNSCHEDULABLE) for one in tolerations):
            return np.zeros(len(self), np.bool_)
        return self.unschedulable

    def declaring(self, features: frozenset[str]) -> Bools:
        """Return the rows whose kubelets declare all of ``features``."""
        having = [features.issubset(one) for one in self._fleet.feature_sets]
        return np.array(having, np.bool_)[self._fleet.feature_set[self._rows]]

    def ports_taken(self, ports: Sequence[HostPort]) -> Bools:
        """Return the rows where one of these host ports is in use."""
        return self.named(list(self._fleet.ports.nodes_in_conflict(ports)))

    def image(self, image: str) -> tuple[int, Ints]:
        """Return an image's bytes, and on how many nodes it is, where it is. Shape (rows,)."""
        size, counts = self._fleet.images.of(image)
        found = np.zeros(len(self._fleet.names), np.int64)
        rows = self._fleet.row_of
        found[[rows[name] for name in counts]] = list(counts.values())
        return size, found[self._rows]

    def count(self, query: PodQuery) -> Ints:
        """Return how many pods of each row a question means."""
        return _fixed(self._fleet.count(query)[self._rows])

    @property
    def any_carried(self) -> bool:
        """Whether any pod says anything about other pods."""
        return self._fleet.any_carried

    def carried(self, kind: Carried) -> Mapping[AffinityTerm, Ints]:
        """Return terms that pods carry, with counts for every row of the whole fleet."""
        return self._fleet.carried(kind)

    @property
    def namespaces(self) -> NamespaceLabels:
        """Labels of all namespaces."""
        return self._fleet.namespaces

    def selector_of(self, pod: PodView) -> LabelSelector:
        """Return what services and controllers say belongs with the pod."""
        return self._fleet.belonging.selector_of(pod)

    def _capacity(self, column: int | None) -> Ints:
        if column is None:
            return np.zeros(len(self), np.int64)
        if self._instead is not None:
            return self._instead[0][:, column]
        return _fixed(self._fleet.capacity[self._rows, column])

    def _taken(self, column: int | None) -> Ints:
        if column is None:
            return np.zeros(len(self), np.int64)
        if self._instead is not None:
            return self._instead[1][:, column]
        return _fixed(self._fleet.load[self._rows, column])


def _fixed(column: Ints) -> Ints:
    column.flags.writeable = False
    return column

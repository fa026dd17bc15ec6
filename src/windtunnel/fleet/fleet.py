"""The cluster as arrays: one row a node, in the order in which the scheduler walks nodes.

Pods and nodes come in as changes or as values; every number that rules of placement read is kept up
to date pod by pod. Rows are brought into order when somebody next looks, so that loading thousands
of nodes costs one arrangement. A trial (``what_if``) takes back everything that happened in it, and
trials nest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from windtunnel.errors import BrokenInvariant
from windtunnel.fleet.arrays import Bools, Ints, Rows
from windtunnel.fleet.belonging import GROUPING, Belonging
from windtunnel.fleet.columns import Columns
from windtunnel.fleet.images import Images
from windtunnel.fleet.labels import NodeLabels
from windtunnel.fleet.node import NodeFacts, read_changed_node
from windtunnel.fleet.pod import PodReader, PodView
from windtunnel.fleet.pod_terms import AffinityTerm, PodQuery
from windtunnel.fleet.ports import PortsInUse
from windtunnel.fleet.residents import Residents
from windtunnel.fleet.roster import Roster
from windtunnel.fleet.shape import Shape
from windtunnel.fleet.taints import Taints
from windtunnel.fleet.tally import CARRIED, Carried, Tally
from windtunnel.fleet.touches import Mark, Touches
from windtunnel.fleet.trial import Trials
from windtunnel.fleet.view import ALL_ROWS, FleetView
from windtunnel.machinery.change import Change
from windtunnel.machinery.tree import Key


class _Nodes(NamedTuple):
    """The nodes as a trial found them."""

    roster: Roster
    names: list[str]


class Fleet:
    """All nodes and the pods on them. One thread owns it."""

    def __init__(self) -> None:
        self.reader = PodReader()
        self.namespaces: dict[str, dict[str, str]] = {}
        self.belonging = Belonging()
        self.ports = PortsInUse()
        self._roster = Roster()
        self._columns = Columns()
        self._tally = Tally(self.namespaces)
        self._names: list[str] = []
        self._row_of: dict[str, int] = {}
        self._labels: NodeLabels | None = None
        self._disordered = False
        self._rewritten: set[str] = set()
        self._residents = Residents()
        self._vectors: WeakKeyDictionary[Shape, Ints] = WeakKeyDictionary()
        self._touches = Touches()
        self._trials = Trials()
        self._whole = FleetView(self, ALL_ROWS)

    @property
    def facts(self) -> Mapping[str, NodeFacts]:
        """What the nodes are, by name."""
        return self._roster.facts

    @property
    def images(self) -> Images:
        """Container images on nodes."""
        return self._roster.images

    @property
    def names(self) -> Sequence[str]:
        """Node names by row."""
        if self._disordered:
            self._arrange()
        return self._names

    @property
    def row_of(self) -> Mapping[str, int]:
        """Row by node name."""
        self._arrange()
        return self._row_of

    @property
    def column_of(self) -> Mapping[str, int]:
        """Column by resource."""
        return self._columns.index

    @property
    def capacity(self) -> Ints:
        """What nodes have. Shape (rows, columns)."""
        self._arrange()
        return self._columns.capacity

    @property
    def load(self) -> Ints:
        """What pods take. Shape (rows, columns)."""
        self._arrange()
        return self._columns.load

    @property
    def kinds(self) -> Sequence[int]:
        """Interned capacity by row."""
        self._arrange()
        return self._columns.kinds

    @property
    def unschedulable(self) -> Bools:
        """Cordoned rows."""
        self._arrange()
        return self._columns.unschedulable

    @property
    def taint_sets(self) -> Sequence[Taints]:
        """All sets of taints that nodes have had."""
        return self._columns.taint_sets

    @property
    def taint_set(self) -> Ints:
        """Index into ``taint_sets`` by row."""
        self._arrange()
        return self._columns.taint_set

    @property
    def feature_sets(self) -> Sequence[tuple[str, ...]]:
        """All sets of features that nodes have declared."""
        return self._columns.feature_sets

    @property
    def feature_set(self) -> Ints:
        """Index into ``feature_sets`` by row."""
        self._arrange()
        return self._columns.feature_set

    @property
    def node_labels(self) -> NodeLabels:
        """Answers questions about labels and names."""
        self._arrange()
        if self._labels is None:
            self._labels = NodeLabels(
                self._names, [self.facts[name].labels for name in self._names]
            )
        return self._labels

    def view(self, rows: Rows = ALL_ROWS) -> FleetView:
        """Return the read-only view of all rows, or of some."""
        if self._disordered:
            self._arrange()
        return self._whole if rows is ALL_ROWS else FleetView(self, rows)

    def ladder(self, row: int, shape: Shape, steps: int) -> FleetView:
        """Return a view of one row as it would be with 0, 1, 2, … more pods of a shape."""
        self._arrange()
        more = np.arange(steps)[:, np.newaxis] * self.vector(shape)
        capacity = np.broadcast_to(self._columns.capacity[row], more.shape)
        instead = (capacity, self._columns.load[row] + more)
        return FleetView(self, np.full(steps, row), instead)

    def vector(self, shape: Shape) -> Ints:
        """Return what one pod of a shape adds to a row of ``load``."""
        found = self._vectors.get(shape)
        if found is None or len(found) != len(self._columns.index):
            found = self._columns.vector(shape)
            found.flags.writeable = False
            self._vectors[shape] = found
        return found

    def state(self, row: int, load: Ints | None = None) -> tuple[int, bytes]:
        """Return a value that is equal for rows with the same resources, had and used.

        ``load`` stands in for what the row's pods take.
        """
        taken = self._columns.load[row] if load is None else load
        return self._columns.kinds[row], taken.tobytes()

    def count(self, query: PodQuery) -> Ints:
        """Return how many pods of each row a question means."""
        self._arrange()
        return self._tally.count(query, self._rows_of_pods)

    @property
    def any_carried(self) -> bool:
        """Whether any pod says anything about other pods."""
        return self._tally.any_carried

    def carried(self, kind: Carried) -> Mapping[AffinityTerm, Ints]:
        """Return the terms of one kind that pods carry, counted by row."""
        self._arrange()
        return self._tally.carried(kind)

    def where(self, key: Key) -> str | None:
        """Return the node a pod is on, or None."""
        found = self._residents.get(key)
        return found[1] if found else None

    def placed(self, key: Key) -> PodView | None:
        """Return a pod that is on a node, or None."""
        found = self._residents.get(key)
        return found[0] if found else None

    def any_below(self, priority: int) -> bool:
        """Say whether any pod on any node is less important than ``priority``."""
        return self._residents.any_below(priority)

    def pods_on(self, node: str) -> Sequence[PodView]:
        """Return the pods of a node."""
        return self._residents.on(node)

    def apply(self, resource: str, change: Change) -> None:
        """Follow one change of a watched resource; changes of other resources are ignored."""
        gone = change.type == "DELETED"
        if change.type == "SYNCED":
            return
        if resource == "nodes":
            if gone:
                self.remove_node(change.key.name)
            else:
                self.put_node(read_changed_node(change))
        elif resource == "pods":
            pod = self.reader.read_changed(change)
            if gone or pod.finished or not pod.node:
                self.remove(pod.key)
            else:
                self.place(pod, pod.node)
        elif resource == "namespaces":
            labels = {} if gone else (change.tree()["metadata"].get("labels") or {})
            self.put_namespace(change.key.name, None if gone else labels)
        elif resource in GROUPING:
            if gone:
                self.belonging.remove(resource, change.key)
            else:
                self.belonging.put(resource, change.tree())

    def put_namespace(self, name: str, labels: dict[str, str] | None) -> None:
        """Learn a namespace's labels; None forgets it."""
        if labels == self.namespaces.get(name):
            return
        if labels is None:
            del self.namespaces[name]
        else:
            self.namespaces[name] = labels
        self._tally.forget()
        self._touches.everything()

    def put_node(self, facts: NodeFacts) -> None:
        """Add a node, or learn what it is now."""
        before = self.facts.get(facts.name)
        if before == facts:
            if self._trials.steps is None:
                self.images.touch(facts.name)
            return
        self._keep_nodes()
        came = self._roster.put(facts)
        self._disordered = self._disordered or came
        if self._disordered:
            self._rewritten.add(facts.name)
        else:
            self._columns.set_nodes({self._row_of[facts.name]: facts})
            if before is not None and self._follow_row(before, facts):
                return
        self._touches.everything()
        self._labels = None

    def _follow_row(self, before: NodeFacts, facts: NodeFacts) -> bool:
        """Let others follow a change that concerns one row alone; says whether it does."""
        if self._trials.steps is not None or before.images != facts.images:
            return False
        row = self._row_of[facts.name]
        if self._labels is not None and before.labels != facts.labels:
            self._labels.relabel(row, facts.labels)
        self._touches.rewrite(row)
        return True

    def remove_node(self, name: str) -> None:
        """Forget a node; its pods are kept for the day it comes back."""
        if name not in self.facts:
            return
        self._keep_nodes()
        self._roster.remove(name)
        self._touches.everything()
        self._labels = None
        self._disordered = True

    def recount_images(self) -> None:
        """Count images anew where something changed, as whoever begins a search does."""
        if self.images.recount():
            self._touches.everything()

    def place(self, pod: PodView, node: str) -> None:
        """Put a pod on a node, or move it there; a pod already there is replaced."""
        self._arrange()
        before = self._residents.get(pod.key)
        if before is not None:
            if self._trials.steps is None and before[1] == node and self._renew(before[0], pod):
                return
            self.remove(pod.key)
        self._residents.put(pod, node)
        self._move(pod, node, 1)
        if self._trials.steps is not None:
            self._trials.steps.append(partial(self._unplace, pod, node))

    def _renew(self, known: PodView, pod: PodView) -> bool:
        """Let a pod that takes what it took learn its later self; says whether it does."""
        was, now = known.shape, pod.shape
        if was is now:
            counts_alike = known.terminating is pod.terminating
        elif was.requests == now.requests and was.nonzero == now.nonzero:
            if was.host_ports != now.host_ports:
                return False
            counts_alike = False
        else:
            return False
        node = self._residents.renew(known, pod)
        row = self._row_of.get(node)
        if not counts_alike and row is not None:
            self._tally.move(known, row, -1)
            self._tally.move(pod, row, 1)
            self._touches.add(row)
        return True

    def remove(self, key: Key) -> PodView | None:
        """Take a pod off its node; returns it, or None where it is on none."""
        self._arrange()
        found = self._residents.get(key)
        if found is None:
            return None
        pod, node = found
        place = self._residents.take(pod, node)
        self._move(pod, node, -1)
        if self._trials.steps is not None:
            self._trials.steps.append(partial(self._unremove, pod, node, place))
        return pod

    @contextmanager
    def what_if(self) -> Iterator[None]:
        """Take back, at the end, what happened to pods and nodes inside. Trials nest."""
        self._arrange()
        level = self._trials.begin()
        before = self._touches.now()
        self._touches.seen = not level.outermost and self._touches.seen
        try:
            yield
        finally:
            self._trials.end(level)
            if level.outermost:
                self._touches.take_back(before)

    def _unplace(self, pod: PodView, node: str) -> None:
        self._arrange()
        self._residents.unput(pod, node)
        self._move(pod, node, -1)

    def _unremove(self, pod: PodView, node: str, place: int) -> None:
        self._arrange()
        self._residents.untake(pod, node, place)
        self._move(pod, node, 1)

    def _keep_nodes(self) -> None:
        """Before the first change of a node in a trial, see to it that all can be brought back."""
        if self._trials.steps is None or self._trials.nodes_kept:
            return
        kept = _Nodes(self._roster.copy(), self._names)
        self._trials.steps.append(partial(self._bring_back, kept))
        self._trials.nodes_kept = True

    def _bring_back(self, kept: _Nodes) -> None:
        self._rewritten |= {
            name for name, facts in kept.roster.facts.items() if self.facts.get(name) is not facts
        }
        self._roster = kept.roster
        self._labels = None
        self._settle(kept.names)

    def mark(self) -> Mark:
        """Return the present moment."""
        if self._disordered:
            self._arrange()
        self._touches.seen = True
        return self._touches.now()

    def touched_since(self, mark: Mark) -> Sequence[int] | None:
        """Return the rows that changed since ``mark``; None: look at everything again."""
        if self._disordered:
            self._arrange()
        return self._touches.since(mark)

    def rewritten_since(self, mark: Mark) -> Sequence[int]:
        """Return those of the touched rows whose nodes themselves changed."""
        return self._touches.rewritten_since(mark)

    def check(self) -> None:
        """Compare every number with what the pods and nodes say.

        Raises:
            BrokenInvariant: One of them is wrong.
        """
        self._arrange()
        if not sorted(self._names) == sorted(self.facts) == sorted(self._roster.names()):
            raise BrokenInvariant("rows are not the nodes")
        fresh = Fleet()
        fresh.namespaces.update(self.namespaces)
        for resource in self._columns.index:
            fresh._columns.column(resource)
        for name in self._names:
            fresh.put_node(self.facts[name])
        for pod, node in self._residents:
            fresh.place(pod, node)
        rows = [fresh.row_of[name] for name in self._names]
        pairs = {
            "capacity": (self.capacity, fresh.capacity),
            "load": (self.load, fresh.load),
            "unschedulable": (self.unschedulable, fresh.unschedulable),
        }
        for query in self._tally.queries():
            pairs[str(query)] = (self.count(query), fresh.count(query))
        for kind in CARRIED:
            ours, theirs = self.carried(kind), fresh.carried(kind)
            none = np.zeros(len(rows), np.int64)
            for term in {*ours, *theirs}:
                pairs[f"{kind} {term}"] = (ours.get(term, none), theirs.get(term, none))
        for what, (kept, wanted) in pairs.items():
            if not np.array_equal(kept, wanted[rows]):
                raise BrokenInvariant(f"fleet: {what} is not what its pods and nodes say")

    def _rows_of_pods(self) -> Iterator[tuple[PodView, int]]:
        for pod, node in self._residents:
            row = self._row_of.get(node)
            if row is not None:
                yield pod, row

    def _move(self, pod: PodView, node: str, by: int) -> None:
        if pod.shape.host_ports:
            self.ports.move(node, pod.shape.host_ports, by)
        if self._trials.steps is None:
            self.images.touch(node)
        row = self._row_of.get(node)
        if row is None:
            return
        vector = self.vector(pod.shape)
        if by > 0:
            self._columns.load[row] += vector
        else:
            self._columns.load[row] -= vector
        self._tally.move(pod, row, by)
        self._touches.add(row)

    def _arrange(self) -> None:
        """Bring rows into the order of nodes."""
        if self._disordered:
            self._settle(self._roster.names())

    def _settle(self, names: list[str]) -> None:
        """Give every node its row."""
        self._disordered = False
        before = self._row_of
        self._names = names
        self._row_of = {name: row for row, name in enumerate(self._names)}
        sources = np.array([before.get(name, -1) for name in self._names], np.int64)
        self._columns.rearrange(sources)
        self._tally.rearrange(sources)
        fresh = [self._names[row] for row in np.flatnonzero(sources < 0).tolist()]
        rewritten = [name for name in self._rewritten if name in self._row_of]
        self._rewritten.clear()
        self._columns.set_nodes(
            {self._row_of[name]: self.facts[name] for name in dict.fromkeys(rewritten + fresh)}
        )
        for name in fresh:
            row = self._row_of[name]
            for pod in self._residents.on(name):
                self._columns.load[row] += self.vector(pod.shape)
                self._tally.move(pod, row, 1)
        self._touches.everything()

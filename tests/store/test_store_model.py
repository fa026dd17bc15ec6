"""The store against a model that keeps everything: any writes, compactions and restarts."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from windtunnel.kernel import VirtualClock
from windtunnel.machinery.tree import Key
from windtunnel.store import HistoryGone, Stale, Store, Version
from windtunnel.store.memory import MemoryBackend
from windtunnel.store.sqlite import SqliteBackend

RESOURCES = st.sampled_from(["pods", "nodes"])
KEYS = st.builds(Key, st.sampled_from(["", "a", "a-b", "b"]), st.sampled_from(["x", "y", "z"]))
REVISIONS = st.integers(0, 40)


class Row(NamedTuple):
    """What must be true of a version."""

    revision: int
    type: str
    key: Key
    body: bytes
    before: bytes | None


def row_of(version: Version) -> Row:
    before = version.previous.body if version.previous is not None else None
    return Row(version.revision, version.type, version.key, version.body, before)


def in_order(key: Key) -> bytes:
    return (f"{key.namespace}/{key.name}" if key.namespace else key.name).encode()


class Comparison(RuleBasedStateMachine):
    """Does the same to a store and to a plain list of everything that ever happened."""

    on_disk: bool

    @initialize(recent_bytes=st.sampled_from([1, 2_500, 0]))
    def begin(self, recent_bytes: int) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.recent_bytes = recent_bytes
        self.history: dict[str, list[Row]] = {"pods": [], "nodes": []}
        self.told: list[tuple[str, Row]] = []
        self.open()

    def open(self) -> None:
        backend = (
            SqliteBackend(Path(self.folder.name) / "state.db") if self.on_disk else MemoryBackend()
        )
        self.store = Store(backend, VirtualClock(), recent_bytes=self.recent_bytes)
        self.store.subscribe("", lambda v: self.told.append((v.resource, row_of(v))))

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            self.folder.cleanup()

    def live(self, resource: str, revision: int) -> dict[Key, Row]:
        state: dict[Key, Row] = {}
        for row in self.history[resource]:
            if row.revision <= revision:
                state.pop(row.key, None)
                if row.type != "DELETED":
                    state[row.key] = row
        return state

    @rule(resource=RESOURCES, key=KEYS, guess=st.sampled_from(["none", "right", "wrong"]))
    def put(self, resource: str, key: Key, guess: str) -> None:
        current = self.live(resource, self.store.revision).get(key)
        expected = {"none": None, "wrong": 999, "right": current.revision if current else 0}[guess]

        def write() -> Version:
            return self.store.put(
                resource, key, body=lambda revision: b"%d" % revision, expected=expected,
                uid="", labels={}, fields={},
            )  # fmt: skip

        if guess == "wrong":
            with pytest.raises(Stale):
                write()
            return
        version = write()
        self.record(resource, version, "MODIFIED" if current else "ADDED", current)

    @rule(resource=RESOURCES, key=KEYS)
    def remove(self, resource: str, key: Key) -> None:
        current = self.live(resource, self.store.revision).get(key)
        if current is None:
            with pytest.raises(Stale):
                self.store.remove(resource, key, expected=None)
            return
        version = self.store.remove(
            resource, key, expected=current.revision, body=lambda revision: b"-%d" % revision
        )
        self.record(resource, version, "DELETED", current)

    def record(self, resource: str, version: Version, kind: str, current: Row | None) -> None:
        assert (version.type, version.revision) == (kind, self.store.revision)
        row = Row(
            version.revision, kind, version.key, version.body, current.body if current else None
        )
        self.history[resource].append(row)
        assert self.told[-1] == (resource, row)

    @rule(back=st.integers(0, 10))
    def compact(self, back: int) -> None:
        self.store.flush()
        self.store.compact(self.store.revision - back)

    @rule()
    def restart(self) -> None:
        if self.on_disk:
            revision, compacted = self.store.revision, self.store.compacted
            self.store.close()
            self.open()
            assert (self.store.revision, self.store.compacted) == (revision, compacted)

    @rule(resource=RESOURCES, revision=REVISIONS, namespace=st.sampled_from(["", "a"]))
    def since(self, resource: str, revision: int, namespace: str) -> None:
        changes = self.unless_gone(self.store.since, resource, revision, namespace)
        if changes is None:
            return
        assert [row_of(version) for version in changes] == [
            row
            for row in self.history[resource]
            if row.revision > revision and namespace in ("", row.key.namespace)
        ]

    @rule(resource=RESOURCES, revision=REVISIONS, namespace=st.sampled_from(["", "a"]))
    def at(self, resource: str, revision: int, namespace: str) -> None:
        state = self.unless_gone(self.store.at, resource, revision, namespace)
        if state is None:
            return
        want = [
            row
            for key, row in self.live(resource, revision).items()
            if namespace in ("", key.namespace)
        ]
        want.sort(key=lambda row: in_order(row.key))
        assert [(v.key, v.body) for v in state] == [(row.key, row.body) for row in want]

    def unless_gone(
        self,
        ask: Callable[[str, int, str], list[Version]],
        resource: str,
        revision: int,
        namespace: str,
    ) -> list[Version] | None:
        """Ask for the past; where it is gone, see that it had to be."""
        oldest = 0
        try:
            return ask(resource, revision, namespace)
        except HistoryGone as gone:
            oldest = gone.oldest
        assert revision < oldest <= self.store.revision
        assert not self.on_disk or oldest == self.store.compacted
        return None

    @invariant()
    def the_present_is_right(self) -> None:
        if not hasattr(self, "store"):
            return
        self.store.check()
        for resource in self.history:
            want = self.live(resource, self.store.revision)
            state = self.store.list(resource)
            assert [v.key for v in state] == sorted(want, key=in_order)
            assert all(v.body == want[v.key].body for v in state)


class OnDisk(Comparison):
    on_disk = True


class InMemory(Comparison):
    on_disk = False


TestOnDisk = OnDisk.TestCase
TestOnDisk.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestInMemory = InMemory.TestCase
TestInMemory.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)

"""The store: applied at once, let out when durable.

A write gets its revision and is seen by our own parts inside the call; whoever speaks to the
outside waits until ``durable`` has reached what it wants to say. One thread owns a store; only the
committer's thread, which never touches the objects, runs beside it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from windtunnel.errors import BrokenInvariant
from windtunnel.kernel import Clock
from windtunnel.machinery.tree import Key, encode
from windtunnel.store.backend import Backend
from windtunnel.store.committer import Committer, Post
from windtunnel.store.refusals import HistoryGone, Stale
from windtunnel.store.retention import Retention
from windtunnel.store.shelf import Shelf, path_of
from windtunnel.store.version import Version, Versions, VersionType, forget_previous

DeliverVersion = Callable[[Version], None]
MakeBody = Callable[[int], bytes]
ResourceNames = list[str]

_VERSION_BYTES: Final = 700
"""What a version of a pod weighs in memory besides its body (measured)."""
_SHARED_LABELS: Final = 4096


class Store:
    """Versions of all objects: the present in memory, history as far as it is kept."""

    def __init__(
        self, backend: Backend, clock: Clock, *, recent_bytes: int = 0, keep_seconds: float = 600.0
    ) -> None:
        """Open the store and load what was durable.

        Args:
            backend: Where versions are kept.
            clock: Tells how old history is.
            recent_bytes: How much history stays in memory; 0 is 64 MiB where memory is all there
                is (a few minutes under load, far more in quiet times), 24 MiB over a disk.
            keep_seconds: History younger than this is never forgotten on disk.
        """
        loaded = backend.load()
        self.revision = loaded.revision
        """Of the last write."""
        self.compacted = loaded.compacted
        """History up to here is forgotten."""
        self._backend = backend
        self._shelves: dict[str, Shelf] = {}
        self._loaded_at = loaded.revision
        self._window: deque[Version] = deque()
        self._window_bytes = 0
        self._window_limit = recent_bytes or (24 if backend.keeps_history else 64) << 20
        self._labels: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
        self._subscribers: dict[str, tuple[DeliverVersion, ...]] = {}
        self._delivering = False
        self.failed: Callable[[Exception], None] = _raise
        """Told of what a subscriber raised: a bug of his. The write stands, and all others hear of
        it, before this is called; by default it is raised then."""
        self._retention = Retention(clock, keep_seconds) if backend.keeps_history else None
        for version in loaded.live:
            self._shelf(version.resource).place(version)
        self._committer = Committer(backend, loaded.revision) if backend.keeps_history else None

    @property
    def durable(self) -> int:
        """The mark: everything up to this revision may leave the process."""
        return self.revision if self._committer is None else self._committer.durable

    @property
    def empty(self) -> bool:
        """Whether there is no object at all."""
        return not any(map(len, self._shelves.values()))

    def get(self, resource: str, key: Key) -> Version | None:
        """Return the object, or None where there is none."""
        shelf = self._shelves.get(resource)
        return None if shelf is None else shelf.get(key)

    def list(self, resource: str, namespace: str = "") -> Versions:
        """Return what exists of a resource, in key order."""
        shelf = self._shelves.get(resource)
        return [] if shelf is None else shelf.list(namespace)

    def count(self, resource: str, namespace: str = "") -> int:
        """Return how many objects of a resource exist."""
        shelf = self._shelves.get(resource)
        return 0 if shelf is None else shelf.count(namespace)

    def resources(self) -> ResourceNames:
        """Return the resources of which something exists, sorted."""
        return sorted(resource for resource, shelf in self._shelves.items() if len(shelf))

    def at(self, resource: str, revision: int, namespace: str = "") -> Versions:
        """Return what existed of a resource at a revision, in key order.

        Raises:
            HistoryGone: the state at ``revision`` is forgotten.
        """
        shelf = self._shelf(resource)
        if shelf.changed <= revision and revision >= self.compacted:
            return shelf.list(namespace)
        self._require_history(shelf, revision)
        if revision >= shelf.known_from:
            objects = shelf.at(revision)
        else:
            objects = {path_of(v.key): v for v in self._backend.at(resource, revision)}
        return [
            version
            for _, version in sorted(objects.items())
            if not namespace or version.key.namespace == namespace
        ]

    def since(self, resource: str, revision: int, namespace: str = "") -> Versions:
        """Return all changes of a resource after a revision, oldest first.

        Raises:
            HistoryGone: changes after ``revision`` are forgotten.
        """
        shelf = self._shelf(resource)
        if shelf.changed <= revision:
            return []
        self._require_history(shelf, revision)
        versions = shelf.since(revision)
        if revision < shelf.known_from:
            versions = self._backend.since(resource, revision, shelf.known_from) + versions
        if namespace:
            versions = [version for version in versions if version.key.namespace == namespace]
        return versions

    def put(
        self,
        resource: str,
        key: Key,
        *,
        body: MakeBody,
        expected: int | None,
        uid: str,
        labels: dict[str, str],
        fields: dict[str, str],
    ) -> Version:
        """Create or replace an object.

        Args:
            resource: The stored resource's name.
            key: Names the object.
            body: Makes the JSON, given the revision that it must carry.
            expected: The revision that the writer has read; 0: the object must not exist;
                None: whatever is there is replaced.
            uid: The object's metadata.uid.
            labels: The object's labels; shared with other versions from now on.
            fields: What field selectors may ask for; shared likewise.

        Raises:
            Stale: the object is not at the expected revision.
            CommitFailed: the disk has failed before; the cluster is stopping.
        """
        shelf = self._shelves.get(resource) or self._shelf(resource)
        previous = shelf.get(key)
        self._admit(previous, expected)
        revision = self.revision + 1
        if previous is None:
            kind: VersionType = "ADDED"
            created = revision
        else:
            kind = "MODIFIED"
            created = previous.created
            if fields == previous.fields:
                fields = previous.fields
        version = Version(
            resource, key, revision, kind, body(revision), uid, self._share(labels, previous),
            fields, created, previous,
        )  # fmt: skip
        self._apply(shelf, version)
        return version

    def remove(
        self, resource: str, key: Key, *, expected: int | None, body: MakeBody | None = None
    ) -> Version:
        """Delete an object and return its DELETED version.

        Args:
            resource: The stored resource's name.
            key: Names the object.
            expected: The revision that the writer has read; None: whatever is there goes.
            body: Makes the last state's JSON, given the revision that it must carry; None: the
                stored state with its resourceVersion replaced.

        Raises:
            Stale: the object is not at the expected revision, or does not exist.
            CommitFailed: the disk has failed before; the cluster is stopping.
        """
        shelf = self._shelf(resource)
        previous = shelf.get(key)
        if previous is None:
            raise Stale(0)
        self._admit(previous, expected)
        revision = self.revision + 1
        version = Version(
            resource, key, revision, "DELETED",
            (body or _last_state(previous))(revision),
            previous.uid, previous.labels, previous.fields, previous.created, previous,
        )  # fmt: skip
        self._apply(shelf, version)
        return version

    def compact(self, revision: int) -> None:
        """Forget history up to ``revision``; the state at that revision stays known."""
        revision = min(revision, self.revision)
        if revision <= self.compacted:
            return
        self.compacted = revision
        if self._committer is not None:
            self._committer.compact(revision)
            revision = min(revision, self._committer.durable)
        while self._window and self._window[0].revision <= revision:
            self._drop_oldest()

    def subscribe(self, resource: str, deliver: DeliverVersion) -> Callable[[], None]:
        """Call ``deliver`` with every change of a resource ("" is all), inside the write.

        ``Version.previous`` is the state before during the call; it may be let go later. Whoever
        is called must not write to the store.

        Returns:
            How to stop.
        """
        self._subscribers[resource] = (*self._subscribers.get(resource, ()), deliver)

        def stop() -> None:
            remaining = list(self._subscribers.get(resource, ()))
            if deliver in remaining:
                remaining.remove(deliver)
                self._subscribers[resource] = tuple(remaining)

        return stop

    def on_durable(self, callback: Callable[[], None], post: Post) -> None:
        """Have ``callback`` called each time the mark has moved, and once if a commit fails.

        ``post`` is called on the committer's thread and must pass the callback to the owner's.
        """
        if self._committer is not None:
            self._committer.tell(callback, post)

    @property
    def failure(self) -> Exception | None:
        """Why the cluster must stop: a commit failed. The mark never moves again."""
        return None if self._committer is None else self._committer.failure

    def flush(self) -> None:
        """Wait until all that was written is durable.

        Raises:
            CommitFailed: the disk has failed.
        """
        if self._committer is not None:
            self._committer.flush(self.revision)

    def close(self) -> None:
        """Make what was written durable and let go of the backend."""
        try:
            if self._committer is not None:
                self._committer.close()
        finally:
            self._backend.close()

    def check(self) -> None:
        """Raise BrokenInvariant where the store contradicts itself."""
        if not self.compacted <= self.revision or not self.durable <= self.revision:
            raise BrokenInvariant("marks stand beyond the last revision")
        recent = [version.revision for version in self._window]
        if recent != sorted(set(recent)):
            raise BrokenInvariant("the window is out of order")
        if recent and recent[-1] != self.revision:
            raise BrokenInvariant("the window does not end with the last write")
        for shelf in self._shelves.values():
            shelf.check()
        if sum(len(shelf.recent) for shelf in self._shelves.values()) != len(self._window):
            raise BrokenInvariant("the window and the shelves disagree")
        if self._window_bytes != sum(map(_weight, self._window)):
            raise BrokenInvariant("the window's weight is wrong")

    def _shelf(self, resource: str) -> Shelf:
        shelf = self._shelves.get(resource)
        if shelf is None:
            shelf = self._shelves[resource] = Shelf(self._loaded_at)
        return shelf

    def _require_history(self, shelf: Shelf, revision: int) -> None:
        oldest = self.compacted
        if self._committer is None:
            oldest = max(oldest, shelf.known_from)
        if revision < oldest:
            raise HistoryGone(oldest)

    def _admit(self, previous: Version | None, expected: int | None) -> None:
        current = 0 if previous is None else previous.revision
        if expected is not None and expected != current:
            raise Stale(current)
        if self._delivering:
            raise BrokenInvariant("a subscriber wrote to the store inside a write")
        if self._committer is not None and self._committer.failure is not None:
            raise self._committer.failure

    def _apply(self, shelf: Shelf, version: Version) -> None:
        self.revision = shelf.changed = version.revision
        shelf.place(version)
        shelf.recent.append(version)
        self._window.append(version)
        self._window_bytes += _weight(version)
        if self._committer is not None:
            self._committer.add(version)
        failures = self._deliver(version)
        while self._window_bytes > self._window_limit and self._may_drop():
            self._drop_oldest()
        if self._retention is not None:
            cutoff = self._retention.after(version.revision)
            if cutoff:
                self.compact(cutoff)
        for failure in failures:
            self.failed(failure)

    def _deliver(self, version: Version) -> Sequence[Exception]:
        """Tell all subscribers; returns what some of them raised."""
        failures: deque[Exception] = deque()
        self._delivering = True
        for resource in (version.resource, ""):
            for deliver in self._subscribers.get(resource, ()):
                try:
                    deliver(version)
                except Exception as failure:
                    failures.append(failure)
        self._delivering = False
        return failures

    def _may_drop(self) -> bool:
        # The last version stays: the window always ends with the last write.
        return len(self._window) > 1 and self._window[0].revision <= self.durable

    def _drop_oldest(self) -> None:
        version = self._window.popleft()
        shelf = self._shelves[version.resource]
        shelf.recent.popleft()
        shelf.known_from = version.revision
        self._window_bytes -= _weight(version)
        forget_previous(version)

    def _share(self, labels: dict[str, str], previous: Version | None) -> dict[str, str]:
        """Return one dict for all versions with equal labels."""
        if previous is not None and previous.labels == labels:
            return previous.labels
        if len(self._labels) > _SHARED_LABELS:
            self._labels.clear()
        return self._labels.setdefault(tuple(labels.items()), labels)


def _raise(failure: Exception) -> None:
    raise failure


def _weight(version: Version) -> int:
    return len(version.body) + _VERSION_BYTES


def _last_state(version: Version) -> MakeBody:
    def body(revision: int) -> bytes:
        tree = version.tree()
        tree["metadata"]["resourceVersion"] = str(revision)
        return encode(tree)

    return body

"""The objects of one resource, in key order, with their recent versions.

Key order is the byte order of ``namespace/name``, as etcd has it: a namespace ``a-b`` comes before
``a``, because ``-`` sorts before ``/``. One sorted list serves whole lists and single namespaces.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from itertools import takewhile

from windtunnel.errors import BrokenInvariant
from windtunnel.machinery.tree import Key
from windtunnel.store.version import Version, Versions

_AFTER_SLASH = "0"
"""The character after ``/``: ends the range of keys that begin with ``namespace/``."""


def path_of(key: Key) -> str:
    """Return what a key sorts by."""
    return f"{key[0]}/{key[1]}" if key[0] else key[1]


class Shelf:
    """What exists of one resource now, and what happened to it lately."""

    def __init__(self, known_from: int) -> None:
        """Begin a shelf of which memory knows all that happens after ``known_from``."""
        self.objects: dict[str, Version] = {}
        self.recent: deque[Version] = deque()
        """Versions still in memory, oldest first."""
        self.changed = known_from
        """Nothing has changed after this revision."""
        self.known_from = known_from
        """All changes after this revision are among the recent ones."""
        self._order: list[str] = []

    def __len__(self) -> int:
        return len(self.objects)

    def get(self, key: Key) -> Version | None:
        """Return the object's version, or None."""
        return self.objects.get(path_of(key))

    def place(self, version: Version) -> None:
        """Put a version in its place, or take the object away if it is DELETED."""
        path = path_of(version.key)
        if version.type == "DELETED":
            del self.objects[path]
            del self._order[bisect_left(self._order, path)]
            return
        if path not in self.objects:
            if self._order and self._order[-1] > path:
                insort(self._order, path)
            else:
                self._order.append(path)
        self.objects[path] = version

    def list(self, namespace: str = "") -> Versions:
        """Return what exists, in key order."""
        low, high = self._span(namespace)
        return list(map(self.objects.__getitem__, self._order[low:high]))

    def count(self, namespace: str = "") -> int:
        """Return how many objects exist."""
        low, high = self._span(namespace)
        return high - low

    def since(self, revision: int) -> Versions:
        """Return the recent versions after ``revision``, oldest first."""
        newer = list(takewhile(lambda version: version.revision > revision, reversed(self.recent)))
        newer.reverse()
        return newer

    def at(self, revision: int) -> dict[str, Version]:
        """Return what existed at ``revision``, by path, by undoing what happened since."""
        objects = dict(self.objects)
        for version in reversed(self.since(revision)):
            path = path_of(version.key)
            if version.previous is None:
                objects.pop(path, None)
            else:
                objects[path] = version.previous
        return objects

    def check(self) -> None:
        """Raise BrokenInvariant where order, objects and recent versions disagree."""
        if self._order != sorted(self.objects):
            raise BrokenInvariant("the key order does not match the objects")
        revisions = [version.revision for version in self.recent]
        if revisions != sorted(set(revisions)):
            raise BrokenInvariant("recent versions are out of order")
        if revisions and revisions[-1] != self.changed:
            raise BrokenInvariant("the last change is not the last recent version")
        latest = {path_of(version.key): version for version in self.recent}
        for path, version in latest.items():
            live = self.objects.get(path)
            if (live is None) != (version.type == "DELETED") or (live or version) is not version:
                raise BrokenInvariant(f"{path} is not in the state of its last version")

    def _span(self, namespace: str) -> tuple[int, int]:
        if not namespace:
            return 0, len(self._order)
        low = bisect_left(self._order, f"{namespace}/")
        return low, bisect_left(self._order, namespace + _AFTER_SLASH, low)

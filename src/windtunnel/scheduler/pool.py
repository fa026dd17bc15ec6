"""Pods that wait for news, grouped by what they have in common.

News is put to the rules once a group: pods of one shape, owner and priority that the same rules
refused get the same answer, so that ten thousand replicas in wait cost what one costs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from windtunnel.machinery.tree import Key
from windtunnel.scheduler.waiting import Waiting

_Like = tuple[object, ...]


class Pool:
    """Waiting pods in the order in which they came."""

    def __init__(self) -> None:
        self._groups: dict[_Like, dict[Key, Waiting]] = {}
        self._places: dict[Key, tuple[int, _Like]] = {}
        self._came = 0

    def __iter__(self) -> Iterator[Waiting]:
        """Yield all, in order; the pool may change meanwhile."""
        return iter(self.in_order([one for group in self.groups() for one in group]))

    def put(self, waiting: Waiting) -> None:
        """Add a pod, or learn what it has become; then it keeps its place."""
        key = waiting.pod.key
        number, _ = self._places.get(key, (self._came, ()))
        self.remove(key)
        self._came += 1
        like = _like(waiting)
        self._groups.setdefault(like, {})[key] = waiting
        self._places[key] = (number, like)

    def remove(self, key: Key) -> None:
        """Take a pod out; harmless where it is not in."""
        found = self._places.pop(key, None)
        if found is not None:
            group = self._groups[found[1]]
            del group[key]
            if not group:
                del self._groups[found[1]]

    def groups(self) -> Iterator[Collection[Waiting]]:
        """Yield the pods that are alike, together; true until the pool changes."""
        return (group.values() for group in self._groups.values())

    def in_order(self, some: list[Waiting]) -> list[Waiting]:
        """Return pods of the pool in the order in which they came."""
        return sorted(some, key=lambda waiting: self._places[waiting.pod.key][0])


def _like(waiting: Waiting) -> _Like:
    pod = waiting.pod
    return (pod.shape, pod.owner, pod.scheduler, pod.priority, waiting.rejectors, waiting.gate)

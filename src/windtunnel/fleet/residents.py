"""Which pods are on which node, in the order in which the real scheduler keeps them.

The order matters: it decides between victims that are equal in everything else. A pod that leaves
is replaced by the last one of its node; every change can be taken back exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from windtunnel.fleet.pod import PodView
from windtunnel.machinery.tree import Key


class Residents:
    """Pods by key and by node. A node need not exist."""

    def __init__(self) -> None:
        self._where: dict[Key, tuple[PodView, str]] = {}
        self._on: dict[str, list[PodView]] = {}
        self._priorities: Counter[int] = Counter()

    def __iter__(self) -> Iterator[tuple[PodView, str]]:
        return iter(self._where.values())

    def get(self, key: Key) -> tuple[PodView, str] | None:
        """Return a pod and its node, or None."""
        return self._where.get(key)

    def on(self, node: str) -> Sequence[PodView]:
        """Return the pods of a node."""
        return self._on.get(node, ())

    def any_below(self, priority: int) -> bool:
        """Say whether any pod is less important than ``priority``."""
        return any(count and one < priority for one, count in self._priorities.items())

    def put(self, pod: PodView, node: str) -> None:
        """Add a pod that is nowhere yet."""
        self._where[pod.key] = (pod, node)
        self._priorities[pod.priority] += 1
        on = self._on.get(node)
        if on is None:
            self._on[node] = [pod]
        else:
            on.append(pod)

    def unput(self, pod: PodView, node: str) -> None:
        """Take the last ``put`` back."""
        del self._where[pod.key]
        self._priorities[pod.priority] -= 1
        self._on[node].pop()

    def take(self, pod: PodView, node: str) -> int:
        """Remove a pod; returns the place it had, for ``untake``."""
        del self._where[pod.key]
        self._priorities[pod.priority] -= 1
        on = self._on[node]
        place = _place(on, pod)
        on[place] = on[-1]
        on.pop()
        return place

    def untake(self, pod: PodView, node: str, place: int) -> None:
        """Take the last ``take`` back."""
        self._where[pod.key] = (pod, node)
        self._priorities[pod.priority] += 1
        on = self._on[node]
        if place < len(on):
            on.append(on[place])
            on[place] = pod
        else:
            on.append(pod)

    def renew(self, known: PodView, pod: PodView) -> str:
        """Replace a pod by its later self: it leaves and comes again. Returns its node."""
        node = self._where[pod.key][1]
        on = self._on[node]
        on[_place(on, known)] = on[-1]
        on[-1] = pod
        if pod.priority != known.priority:
            self._priorities[known.priority] -= 1
            self._priorities[pod.priority] += 1
        self._where[pod.key] = (pod, node)
        return node


def _place(on: list[PodView], pod: PodView) -> int:
    return next(at for at, one in enumerate(on) if one is pod)

"""Pods that wait for a node which preemption makes room on."""

from __future__ import annotations

from collections.abc import Iterable

from windtunnel.fleet import PodView
from windtunnel.machinery.tree import Key


class Nominations:
    """Who is nominated where."""

    def __init__(self) -> None:
        self._node_of: dict[Key, str] = {}
        self._pods: dict[str, dict[Key, PodView]] = {}

    def __bool__(self) -> bool:
        return bool(self._node_of)

    def put(self, pod: PodView, node: str) -> None:
        """Nominate a pod for a node in place of what it was nominated for; "" for none."""
        self.remove(pod.key)
        if node:
            self._node_of[pod.key] = node
            self._pods.setdefault(node, {})[pod.key] = pod

    def remove(self, key: Key) -> None:
        """Forget a pod's nomination."""
        node = self._node_of.pop(key, None)
        if node is not None:
            pods = self._pods[node]
            del pods[key]
            if not pods:
                del self._pods[node]

    def node_of(self, key: Key) -> str:
        """Return the node a pod is nominated for, or ""."""
        return self._node_of.get(key, "")

    def nodes(self) -> Iterable[str]:
        """Return the nodes that somebody waits for."""
        return list(self._pods)

    def on(self, node: str) -> list[PodView]:
        """Return the pods that wait for a node."""
        return list(self._pods.get(node, {}).values())

    def ahead_of(self, pod: PodView, node: str) -> list[PodView]:
        """Return others that wait for ``node`` with at least the pod's priority."""
        return [one for one in self.on(node) if one.priority >= pod.priority and one.key != pod.key]

"""What controllers write on every node's metadata: mirrored labels, and a time to live.

Source: node-lifecycle-controller (labels) and node-ttl-controller of Kubernetes v1.36.
"""

from __future__ import annotations

from typing import Final

from windtunnel.client import Client
from windtunnel.controllers.node.views import NodeView
from windtunnel.controllers.node.visits import visit_nodes
from windtunnel.controllers.sources import Sources
from windtunnel.kernel import DONE, Result, WorkQueue
from windtunnel.machinery.errors import NotFound
from windtunnel.machinery.tree import Key

TTL: Final = "node.alpha.kubernetes.io/ttl"
_MIRRORED: Final = {
    "kubernetes.io/os": "beta.kubernetes.io/os",
    "kubernetes.io/arch": "beta.kubernetes.io/arch",
}
_STEPS: Final = ((0, 90, 100), (15, 450, 500), (30, 900, 1000), (60, 1800, 2000))
"""(seconds, down to this step below so many nodes, up from it at so many)"""
_MOST: Final = 300


def ttl_after(present: int, nodes: int) -> int:
    """Return the seconds that suit so many nodes; it rises later than it falls."""
    seconds = [step[0] for step in _STEPS] + [_MOST]
    place = seconds.index(present)
    while place < len(_STEPS) and nodes >= _STEPS[place][2]:
        place += 1
    while place > 0 and nodes < _STEPS[place - 1][1]:
        place -= 1
    return seconds[place]


def mirrored_labels(labels: dict[str, str]) -> dict[str, str]:
    """Return the beta labels that do not say what the stable ones do."""
    return {
        beta: labels[stable]
        for stable, beta in _MIRRORED.items()
        if stable in labels and labels.get(beta) != labels[stable]
    }


class NodeMetadata:
    """Keeps labels and the ttl annotation of nodes."""

    name = "node-metadata"

    def __init__(self, client: Client, sources: Sources) -> None:
        self._client, self._sources = client, sources
        self._seconds = 0

    def attach(self, queue: WorkQueue[Key]) -> None:
        """Queue nodes as they change, and all of them when their number changes the ttl."""

        def suits_no_more(before: NodeView | None, after: NodeView | None) -> bool:
            if before is not None and after is not None:
                return False
            present = self._seconds
            self._seconds = ttl_after(present, len(self._sources.nodes))
            return self._seconds != present

        visit_nodes(self._sources.nodes, queue, suits_no_more)

    def reconcile(self, key: Key) -> Result:
        """See to one node."""
        node = self._sources.nodes.get(key)
        if node is None:
            return DONE
        patch: dict[str, dict[str, str]] = {}
        labels = mirrored_labels(node.metadata.labels)
        if labels:
            patch["labels"] = labels
        if node.metadata.annotations.get(TTL) != str(self._seconds):
            patch["annotations"] = {TTL: str(self._seconds)}
        if patch:
            try:
                self._client.patch("nodes", key, {"metadata": patch})
            except NotFound:
                return DONE
        return DONE

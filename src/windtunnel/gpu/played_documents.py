"""The documents of played nodes, for the parts that stand for what a real node would run."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from windtunnel.client import Change
from windtunnel.devices import (
    NODE_NAME_LABEL,
    TOPOLOGY_KEY,
    NodeTopology,
    parse_node_topology,
)
from windtunnel.gpu.marks import Marks
from windtunnel.machinery.tree import Key


class _View(msgspec.Struct):
    metadata: Marks
    data: dict[str, str] | None = None


_decoder = msgspec.json.Decoder(_View)


class PlayedDocuments:
    """The last readable state of each, by node.

    Any ConfigMap counts whose label names a node and whose annotation says that it is played,
    whatever it is called; source: fake-gpu-operator 0.2.
    """

    def __init__(self, broken: Callable[[Key, ValueError], None]) -> None:
        """Begin with none; ``broken`` is told of documents that cannot be read."""
        self._broken = broken
        self._found: dict[str, NodeTopology] = {}
        self._names: dict[Key, str] = {}

    def get(self, node: str) -> NodeTopology | None:
        """Return the document of a node."""
        return self._found.get(node)

    def take(self, change: Change) -> str:
        """Take in a change of a ConfigMap; return the node whose document it changed, or ""."""
        view = _decoder.decode(change.body)
        node = view.metadata.labels.get(NODE_NAME_LABEL, "")
        if change.type == "DELETED" or not node or not view.metadata.played:
            node = self._names.pop(change.key, "")
            self._found.pop(node, None)
            return node
        try:
            topology = parse_node_topology((view.data or {}).get(TOPOLOGY_KEY, ""))
        except ValueError as error:
            self._broken(change.key, error)  # what it said before holds
            return ""
        self._names[change.key] = node
        self._found[node] = topology
        return node

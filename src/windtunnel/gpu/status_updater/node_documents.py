"""The documents of nodes as they stand in the API: what each says, and who wrote it last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec

from windtunnel.client import Change
from windtunnel.devices import (
    NODE_NAME_LABEL,
    NODE_TOPOLOGY_LABEL,
    TOPOLOGY_KEY,
    NodeTopology,
    node_config_map_name,
    parse_node_topology,
)
from windtunnel.machinery.tree import Key

MANAGER: Final = "fake-gpu-operator"
"""The field manager of everything that is written after the creation."""


class _Entry(msgspec.Struct):
    manager: str = ""
    operation: str = ""


class _Metadata(msgspec.Struct, rename="camel"):
    labels: dict[str, str] | None = None
    managed_fields: list[_Entry] | None = None


class _View(msgspec.Struct):
    metadata: _Metadata
    data: dict[str, str] | None = None


_decoder = msgspec.json.Decoder(_View)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDocument:
    """The ConfigMap of one node."""

    revision: int
    text: str
    topology: NodeTopology | None
    """None where it never could be read."""
    flaw: str = ""
    """Why it cannot be read now; then ``topology`` is what it said before."""
    applied: bool = False
    """Whether we have applied it, since whoever created it."""


class NodeDocuments:
    """All documents of nodes, by node, kept by the changes of ConfigMaps."""

    def __init__(self, topology_name: str) -> None:
        self._name = topology_name
        self._found: dict[str, NodeDocument] = {}

    def get(self, node: str) -> NodeDocument | None:
        """Return the document of a node."""
        return self._found.get(node)

    def nodes(self) -> list[str]:
        """Return every node that has one."""
        return list(self._found)

    def put(self, node: str, document: NodeDocument) -> None:
        """Remember what has just been written, before the change is heard of."""
        self._found[node] = document

    def drop(self, node: str) -> None:
        """Forget what has just been deleted."""
        self._found.pop(node, None)

    def take(self, change: Change) -> str:
        """Take in a change of a ConfigMap; return the node it is about, or "" if it is none's."""
        view = _decoder.decode(change.body)
        labels = view.metadata.labels or {}
        node = labels.get(NODE_NAME_LABEL, "")
        if (
            not node
            or labels.get(NODE_TOPOLOGY_LABEL) != "true"
            or change.key.name != node_config_map_name(self._name, node)
        ):
            return self._gone(change.key)
        known = self._found.get(node)
        if known is not None and known.revision >= change.revision:
            return node
        if change.type == "DELETED":
            self._found.pop(node, None)
        else:
            self._found[node] = self._read(view, change.revision, known)
        return node

    def _gone(self, key: Key) -> str:
        """A document whose labels were taken away is none any more."""
        node = key.name.removeprefix(f"{self._name}-")
        return node if self._found.pop(node, None) is not None else ""

    def _read(self, view: _View, revision: int, known: NodeDocument | None) -> NodeDocument:
        text = (view.data or {}).get(TOPOLOGY_KEY, "")
        applied = any(
            entry.manager == MANAGER and entry.operation == "Apply"
            for entry in view.metadata.managed_fields or ()
        )
        topology, flaw = None if known is None else known.topology, ""
        if known is None or known.text != text or known.flaw:
            try:
                topology = parse_node_topology(text)
            except ValueError as error:
                flaw = str(error)
        return NodeDocument(
            revision=revision, text=text, topology=topology, flaw=flaw, applied=applied
        )

"""The documents of nodes in the API: what each says, who wrote it last, and what is written."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import msgspec

from windtunnel.client import Change, Client
from windtunnel.devices import (
    NODE_NAME_LABEL,
    NODE_TOPOLOGY_LABEL,
    PLAYED,
    TOPOLOGY_KEY,
    NodeTopology,
    node_config_map_name,
    node_topology_text,
    parse_node_topology,
)
from windtunnel.gpu.status_updater.accounting import Account
from windtunnel.machinery.errors import NotFound
from windtunnel.machinery.tree import Key, Tree

MANAGER: Final = "fake-gpu-operator"
"""The field manager of everything that is written after the creation."""
_LONGEST_TEXT: Final = (1 << 20) - len(TOPOLOGY_KEY)
"""Source: the API's limit for what a ConfigMap holds."""


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
    """All documents of nodes, by node, kept by the changes of ConfigMaps.

    Args:
        client: Writes them.
        name: The ConfigMap of the cluster, which theirs are named after.
        namespace: Where they are.
    """

    def __init__(self, client: Client, name: str, namespace: str) -> None:
        self._client, self._name, self._namespace = client, name, namespace
        self._found: dict[str, NodeDocument] = {}

    def get(self, node: str) -> NodeDocument | None:
        """Return the document of a node."""
        return self._found.get(node)

    def nodes(self) -> list[str]:
        """Return every node that has one."""
        return list(self._found)

    def keep(self, node: str, found: Account, played: str | None) -> None:
        """Write what a node's GPUs are, unless its document says so.

        Args:
            node: The node.
            found: Its GPUs, and who has them.
            played: What the node says of who plays it, if it does.

        Raises:
            ValueError: it is longer than a ConfigMap may be.
            ApiError: the API refuses it.
        """
        document = self._found.get(node)
        if (
            document is not None
            and found.topology == document.topology
            and not document.flaw
            and (document.applied or not found.accounted)
        ):
            return
        text = node_topology_text(found.topology)
        if len(text) > _LONGEST_TEXT:
            count = len(found.topology.gpus)
            raise ValueError(f"{count} GPUs make it longer than a ConfigMap may be")
        tree = self._config_map(node, text)
        if document is None:
            if played is not None:
                tree["metadata"]["annotations"] = {PLAYED: played}
            stored = self._client.create("configmaps", tree)
        else:
            stored = self._client.apply("configmaps", tree, manager=MANAGER, force=True)
        # Remembered at once, for the change is heard of later.
        self._found[node] = NodeDocument(
            revision=int(stored["metadata"]["resourceVersion"]),
            text=text,
            topology=found.topology,
            applied=document is not None,
        )

    def delete(self, node: str) -> None:
        """Delete the document of a node, if it has one."""
        if node in self._found:
            with suppress(NotFound):
                self._client.delete("configmaps", self._key(node))
            self._found.pop(node, None)

    def _key(self, node: str) -> Key:
        return Key(self._namespace, node_config_map_name(self._name, node))

    def _config_map(self, node: str, text: str) -> Tree:
        key = self._key(node)
        return {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": key.name,
                "namespace": key.namespace,
                "labels": {NODE_NAME_LABEL: node, NODE_TOPOLOGY_LABEL: "true"},
            },
            "data": {TOPOLOGY_KEY: text},
        }

    def take(self, change: Change) -> str:
        """Take in a change of a ConfigMap; return the node it is about, or "" if it is none's."""
        view = _decoder.decode(change.body)
        labels = view.metadata.labels or {}
        node = labels.get(NODE_NAME_LABEL, "")
        if (
            not node
            or labels.get(NODE_TOPOLOGY_LABEL) != "true"
            or change.key.name != self._key(node).name
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

"""The device plugin of played nodes: writes the capacity that the document of each node says.

A node gets what its document says when either of them appears and whenever the document changes.
What somebody else writes over it stays until then, as on the original. Only ``capacity`` and
``allocatable`` are written, and only the resources that the documents name.

Source: fake-gpu-operator 0.2 (kwok-gpu-device-plugin), which never looks at changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from windtunnel.client import Change, Client
from windtunnel.client.cache import Cache
from windtunnel.devices import allocatable_of, capacity_of
from windtunnel.errors import DataError
from windtunnel.gpu.kwok_device_plugin.amounts import EquippedNode, GpuAmounts, lacking
from windtunnel.gpu.kwok_device_plugin.settings import Settings
from windtunnel.gpu.played_documents import PlayedDocuments
from windtunnel.kernel import DONE, Loop, Result, Worker
from windtunnel.machinery.errors import NotFound
from windtunnel.machinery.tree import Key

COMPONENT: Final = "kwok-gpu-device-plugin"


class KwokDevicePlugin:
    """Keeps the capacity of played nodes as their documents say."""

    name = COMPONENT

    def __init__(self, client: Client, loop: Loop, settings: Settings | None = None) -> None:
        self._client, self._settings = client, settings or Settings()
        self._queue = Worker(loop, self).queue
        self._loop = loop
        self._documents = PlayedDocuments(self._broken)
        self._due: dict[str, GpuAmounts] = {}
        """By node: what its document says."""
        self._gone: dict[str, set[str]] = {}
        """By node: resources that its document named before."""
        self._nodes: Cache[EquippedNode] = Cache(client, "nodes", EquippedNode)
        self._stop_documents: Callable[[], None] | None = None

    def start(self) -> None:
        """Begin to watch.

        Raises:
            DataError: there is no document of the cluster, so that nobody writes those of nodes.
        """
        name, namespace = self._settings.topology_name, self._settings.topology_namespace
        if self._client.get("configmaps", Key(namespace, name)) is None:
            raise DataError(
                "failed to get cluster topology: failed to get topology configmap: "
                f'configmaps "{name}" not found'
            )
        self._nodes.on_change(self._node_changed)
        self._nodes.start()
        self._stop_documents = self._client.watch(
            "configmaps", self._document_changed, namespace=namespace
        )

    def stop(self) -> None:
        """Watch nothing any more."""
        self._nodes.stop()
        if self._stop_documents is not None:
            self._stop_documents()
            self._stop_documents = None

    def reconcile(self, key: str) -> Result:
        """Give one node the capacity that is due."""
        node, due = self._nodes.get(Key("", key)), self._due.get(key)
        if node is None or due is None:
            return DONE
        status = lacking(node, due, self._gone.get(key, set()))
        if status:
            try:
                self._client.patch("nodes", Key("", key), {"status": status}, subresource="status")
            except NotFound:
                return DONE
        self._gone.pop(key, None)
        return DONE

    def _document_changed(self, change: Change) -> None:
        node = "" if change.type == "SYNCED" else self._documents.take(change)
        if not node:
            return
        topology = self._documents.get(node)
        if topology is None:
            self._due.pop(node, None)  # the node keeps what it has, as on the original
            return
        try:
            due = GpuAmounts(capacity_of(topology), allocatable_of(topology))
        except ValueError as error:
            self._broken(change.key, error)  # what it said before holds
            return
        before = self._due.get(node)
        if due != before:
            if before is not None:
                self._gone.setdefault(node, set()).update(before.capacity)
            self._gone.setdefault(node, set()).difference_update(due.capacity)
            self._due[node] = due
            self._queue.add(node)

    def _broken(self, key: Key, error: ValueError) -> None:
        self._loop.report(COMPONENT, key, error)

    def _node_changed(
        self, key: Key, before: EquippedNode | None, after: EquippedNode | None
    ) -> None:
        if after is not None and (before is None or before.metadata.uid != after.metadata.uid):
            self._queue.add(key.name)

"""The DRA plugin of played nodes: keeps the slices of devices as the documents of nodes say.

A slice that is deleted or edited comes back at once; one that says what it should is not written.

Source: fake-gpu-operator 0.2 (kwok-dra-plugin), which writes at every change of a document.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from windtunnel.client import Change, Client
from windtunnel.gpu.kwok_dra_plugin.settings import Settings
from windtunnel.gpu.kwok_dra_plugin.slices import DRIVER, slice_name, slices_of
from windtunnel.gpu.played_documents import PlayedDocuments
from windtunnel.kernel import DONE, Loop, Result, Worker
from windtunnel.machinery.errors import NotFound
from windtunnel.machinery.tree import Key, Tree, dig

COMPONENT: Final = "kwok-dra-plugin"
_SLICES: Final = "resourceslices.resource.k8s.io"
_OURS: Final = f"spec.driver={DRIVER}"


class KwokDraPlugin:
    """Publishes the GPUs of played nodes as devices."""

    name = COMPONENT

    def __init__(self, client: Client, loop: Loop, settings: Settings | None = None) -> None:
        self._client, self._settings = client, settings or Settings()
        self._queue = Worker(loop, self).queue
        self._documents = PlayedDocuments(lambda key, error: loop.report(COMPONENT, key, error))
        self._slices: dict[str, Tree] = {}
        self._unknown = 0
        """Watches that have not yet delivered what there was at the start."""
        self._stops: list[Callable[[], None]] = []

    def start(self) -> None:
        """Begin to watch."""
        self._unknown = 2
        self._stops = [
            self._client.watch(_SLICES, self._slice_changed, field_selector=_OURS),
            self._client.watch(
                "configmaps", self._document_changed, namespace=self._settings.topology_namespace
            ),
        ]

    def stop(self) -> None:
        """Watch nothing any more."""
        for stop in self._stops:
            stop()
        self._stops = []

    def reconcile(self, key: str) -> Result:
        """Bring the slices of one node in line."""
        topology = self._documents.get(key)
        due = {} if topology is None else slices_of(key, topology)
        for name, spec in due.items():
            there = self._slices.get(name)
            if there is None:
                tree = {
                    "apiVersion": "resource.k8s.io/v1",
                    "kind": "ResourceSlice",
                    "metadata": {"name": name},
                    "spec": spec,
                }
                self._slices[name] = self._client.create(_SLICES, tree)
            elif there["spec"] != spec:
                self._slices[name] = self._client.update(_SLICES, {**there, "spec": spec})
        for name in [name for name in self._slices_of_node(key) if name not in due]:
            with suppress(NotFound):
                self._client.delete(_SLICES, Key("", name))
            self._slices.pop(name, None)
        return DONE

    def _slices_of_node(self, node: str) -> list[str]:
        """Return the slices that this part has made for a node, not those of a real plugin."""
        first = slice_name(node)
        return [
            name
            for name, tree in self._slices.items()
            if dig(tree, "spec", "nodeName") == node
            and (name == first or name.startswith(f"{first}-"))
        ]

    def _document_changed(self, change: Change) -> None:
        if change.type == "SYNCED":
            self._one_known()
        else:
            self._visit(self._documents.take(change))

    def _slice_changed(self, change: Change) -> None:
        if change.type == "SYNCED":
            self._one_known()
            return
        name = change.key.name
        tree = change.tree()
        known = self._slices.get(name)
        if known is not None and int(known["metadata"]["resourceVersion"]) > change.revision:
            return  # older than what we have written since
        if change.type == "DELETED":
            self._slices.pop(name, None)
        else:
            self._slices[name] = tree
        self._visit(str(dig(tree, "spec", "nodeName") or ""))

    def _one_known(self) -> None:
        self._unknown -= 1
        if not self._unknown:
            nodes = [str(dig(tree, "spec", "nodeName") or "") for tree in self._slices.values()]
            for node in dict.fromkeys([*self._documents.nodes(), *nodes]):
                self._visit(node)

    def _visit(self, node: str) -> None:
        if node and not self._unknown:
            self._queue.add(node)

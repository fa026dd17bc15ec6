"""The DRA plugin of played nodes: keeps the slices of devices as the documents of nodes say.

Source: fake-gpu-operator 0.2 (kwok-dra-plugin), which writes at every change of a document.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from windtunnel.client import Change, Client
from windtunnel.devices import GPU_DRIVER
from windtunnel.gpu.kept_slices import KeptSlices
from windtunnel.gpu.kwok_dra_plugin.settings import Settings
from windtunnel.gpu.kwok_dra_plugin.slices import slices_of
from windtunnel.gpu.played_documents import PlayedDocuments
from windtunnel.kernel import Loop
from windtunnel.machinery.tree import Tree

COMPONENT: Final = "kwok-dra-plugin"


class KwokDraPlugin:
    """Publishes the GPUs of played nodes as devices."""

    def __init__(self, client: Client, loop: Loop, settings: Settings | None = None) -> None:
        self._client, self._settings = client, settings or Settings()
        self._documents = PlayedDocuments(lambda key, error: loop.report(COMPONENT, key, error))
        self._slices = KeptSlices(
            client, loop, name=COMPONENT, driver=GPU_DRIVER, noun="gpu", due=self._due
        )
        self._stop_documents: Callable[[], None] | None = None

    def start(self) -> None:
        """Begin to watch."""
        self._slices.start()
        self._stop_documents = self._client.watch(
            "configmaps", self._document_changed, namespace=self._settings.topology_namespace
        )

    def stop(self) -> None:
        """Watch nothing any more."""
        self._slices.stop()
        if self._stop_documents is not None:
            self._stop_documents()
            self._stop_documents = None

    def _due(self, node: str) -> list[Tree]:
        topology = self._documents.get(node)
        return [] if topology is None else slices_of(node, topology)

    def _document_changed(self, change: Change) -> None:
        if change.type == "SYNCED":
            self._slices.all_told()
        else:
            self._slices.visit(self._documents.take(change))

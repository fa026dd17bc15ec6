"""Channels of compute domains on played nodes: a slice with one channel for each node.

A node is played by its label ``type`` or by its annotation; the slice goes when it is neither any
more, and comes back when somebody deletes or edits it.

Source: fake-gpu-operator 0.2 (kwok-compute-domain-dra-plugin), which never takes one back while the
node is there, and passes over nodes that have only the annotation.
"""

from __future__ import annotations

from typing import Final

import msgspec

from windtunnel.client import Client
from windtunnel.client.cache import Cache
from windtunnel.devices import CHANNEL_DRIVER
from windtunnel.gpu.kept_slices import KeptSlices
from windtunnel.gpu.marks import Marks
from windtunnel.kernel import Loop
from windtunnel.machinery.tree import Key, Tree

COMPONENT: Final = "kwok-compute-domain-dra-plugin"


class PlayedMark(msgspec.Struct):
    """What says that a node is played."""

    metadata: Marks = msgspec.field(default_factory=Marks)

    @property
    def played(self) -> bool:
        """Whether the node is played."""
        return self.metadata.labels.get("type") == "kwok" or self.metadata.played


def channel_slice(node: str) -> Tree:
    """Return the spec of a node's slice."""
    return {
        "driver": CHANNEL_DRIVER,
        "pool": {"name": node, "generation": 0, "resourceSliceCount": 1},
        "nodeName": node,
        "devices": [
            {
                "name": "channel-0",
                "attributes": {
                    f"{CHANNEL_DRIVER}/id": {"int": 0},
                    f"{CHANNEL_DRIVER}/type": {"string": "channel"},
                },
            }
        ],
    }


class KwokComputeDomain:
    """Publishes a channel for each played node."""

    def __init__(self, client: Client, loop: Loop) -> None:
        self._nodes: Cache[PlayedMark] = Cache(client, "nodes", PlayedMark)
        self._slices = KeptSlices(
            client,
            loop,
            name=COMPONENT,
            driver=CHANNEL_DRIVER,
            noun="compute-domain-channel",
            due=self._due,
        )

    def start(self) -> None:
        """Begin to watch."""
        self._nodes.on_change(lambda key, before, after: self._slices.visit(key.name))
        self._nodes.when_synced(self._slices.all_told)
        self._nodes.start()
        self._slices.start()

    def stop(self) -> None:
        """Watch nothing any more."""
        self._nodes.stop()
        self._slices.stop()

    def _due(self, name: str) -> list[Tree]:
        node = self._nodes.get(Key("", name))
        return [channel_slice(name)] if node is not None and node.played else []

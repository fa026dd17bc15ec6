"""Channels of compute domains on played nodes: a slice with one channel for each node.

A node is played by its label ``type`` or by its annotation; the slice goes when it is neither any
more, and comes back when somebody deletes or edits it.

Source: fake-gpu-operator 0.2 (kwok-compute-domain-dra-plugin), which never takes one back while the
node is there, and passes over nodes that have only the annotation.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final

import msgspec

from windtunnel.client import Change, Client
from windtunnel.client.cache import Cache
from windtunnel.devices import PLAYED
from windtunnel.kernel import DONE, Loop, Result, Worker
from windtunnel.machinery.errors import NotFound
from windtunnel.machinery.tree import Key, Tree, dig

COMPONENT: Final = "kwok-compute-domain-dra-plugin"
_DRIVER: Final = "compute-domain.nvidia.com"
_SLICES: Final = "resourceslices.resource.k8s.io"
_PREFIX: Final = "kwok-"
_SUFFIX: Final = "-compute-domain-channel"


class _Metadata(msgspec.Struct):
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class PlayedMark(msgspec.Struct):
    """What says that a node is played."""

    metadata: _Metadata = msgspec.field(default_factory=_Metadata)

    @property
    def played(self) -> bool:
        """Whether the node is played."""
        meta = self.metadata
        return meta.labels.get("type") == "kwok" or meta.annotations.get(PLAYED) == "fake"


def channel_slice(node: str) -> Tree:
    """Return the spec of a node's slice."""
    return {
        "driver": _DRIVER,
        "pool": {"name": node, "generation": 0, "resourceSliceCount": 1},
        "nodeName": node,
        "devices": [
            {
                "name": "channel-0",
                "attributes": {
                    f"{_DRIVER}/id": {"int": 0},
                    f"{_DRIVER}/type": {"string": "channel"},
                },
            }
        ],
    }


class KwokComputeDomain:
    """Publishes a channel for each played node."""

    name = COMPONENT

    def __init__(self, client: Client, loop: Loop) -> None:
        self._client = client
        self._queue = Worker(loop, self).queue
        self._nodes: Cache[PlayedMark] = Cache(client, "nodes", PlayedMark)
        self._slices: dict[str, Tree] = {}
        self._unknown = 0
        self._stop_slices: Callable[[], None] | None = None

    def start(self) -> None:
        """Begin to watch."""
        self._unknown = 2
        self._nodes.on_change(lambda key, before, after: self._visit(key.name))
        self._nodes.when_synced(self._one_known)
        self._nodes.start()
        self._stop_slices = self._client.watch(
            _SLICES, self._slice_changed, field_selector=f"spec.driver={_DRIVER}"
        )

    def stop(self) -> None:
        """Watch nothing any more."""
        self._nodes.stop()
        if self._stop_slices is not None:
            self._stop_slices()
            self._stop_slices = None

    def reconcile(self, key: str) -> Result:
        """Bring the slice of one node in line."""
        node = self._nodes.get(Key("", key))
        name = f"{_PREFIX}{key}{_SUFFIX}"
        there = self._slices.get(name)
        if node is None or not node.played:
            if there is not None:
                with suppress(NotFound):
                    self._client.delete(_SLICES, Key("", name))
                self._slices.pop(name, None)
            return DONE
        spec = channel_slice(key)
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
        return DONE

    def _slice_changed(self, change: Change) -> None:
        if change.type == "SYNCED":
            self._one_known()
            return
        name = change.key.name
        if not (name.startswith(_PREFIX) and name.endswith(_SUFFIX)):
            return  # of a real plugin
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
            nodes = [key.name for key, _ in self._nodes.entries()]
            sliced = [str(dig(tree, "spec", "nodeName") or "") for tree in self._slices.values()]
            for node in dict.fromkeys([*nodes, *sliced]):
                self._visit(node)

    def _visit(self, node: str) -> None:
        if node and not self._unknown:
            self._queue.add(node)

"""GPU capacity of played nodes without an operator: straight from the documents of their pools.

For each played node that names a pool, the pool's document decides the extended resources in its
status and the ``nvidia.com/gpu.*`` labels that GPU feature discovery would give. Only what differs
is written, and only these fields; when a document changes, every node of the pool follows.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import msgspec

from windtunnel.client import Change, Client
from windtunnel.client.cache import Cache
from windtunnel.devices import GPU, PLAYED, POOL_NAMESPACE
from windtunnel.gpu.pools import Hardware, Pools
from windtunnel.kernel import DONE, Loop, Result, Worker
from windtunnel.machinery.errors import NotFound
from windtunnel.machinery.tree import Key

_TOPOLOGY: Final = "topology"


class _Metadata(msgspec.Struct, rename="camel"):
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    deletion_timestamp: str | None = None


class _Status(msgspec.Struct):
    capacity: dict[str, str] = {}
    allocatable: dict[str, str] = {}


class PooledNode(msgspec.Struct):
    """What capacity looks at."""

    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    status: _Status = msgspec.field(default_factory=_Status)


@dataclass(frozen=True, slots=True)
class Plan:
    """What one node lacks; empty where nothing does."""

    labels: dict[str, str]
    resources: dict[str, str]


def decide(node: PooledNode, pool: Hardware | None) -> Plan:
    """Compare a node with its pool. One that is not played, or of no known pool, lacks nothing."""
    if (
        pool is None
        or node.metadata.annotations.get(PLAYED) != "fake"
        or node.metadata.deletion_timestamp is not None
    ):
        return Plan({}, {})
    have, offer = node.status.capacity, node.status.allocatable
    return Plan(
        {k: v for k, v in pool.labels().items() if node.metadata.labels.get(k) != v},
        {k: v for k, v in pool.capacity().items() if have.get(k) != v or offer.get(k) != v},
    )


class PoolCapacity:
    """Keeps the GPUs of played nodes as their pools say, unless an operator does.

    While the namespace has the document of a cluster, an operator's parts write the same and more.
    Then a node that has no GPUs yet is given those of its pool, so that nobody has to wait for pods
    to come up, and what is there is left to them.
    """

    name = "gpu-capacity"

    def __init__(self, client: Client, loop: Loop) -> None:
        self._client = client
        self._queue = Worker(loop, self).queue
        self._pools = Pools(_TOPOLOGY)
        self._operated = False
        self._stop_pools: Callable[[], None] | None = None
        self._nodes: Cache[PooledNode] = Cache(client, "nodes", PooledNode)

    def start(self) -> None:
        """Begin to watch pools and nodes."""
        self._stop_pools = self._client.watch(
            "configmaps", self._document_changed, namespace=POOL_NAMESPACE
        )
        self._nodes.on_change(lambda key, before, after: self._queue.add(key) if after else None)
        self._nodes.start()

    def stop(self) -> None:
        """Watch nothing any more."""
        if self._stop_pools is not None:
            self._stop_pools()
            self._stop_pools = None
        self._nodes.stop()

    def _document_changed(self, change: Change) -> None:
        name = change.key.name
        if change.type == "SYNCED" or not self._pools.concerns(name):
            return
        tree = None if change.type == "DELETED" else change.tree()
        if name == _TOPOLOGY:
            self._operated = tree is not None
        else:
            with suppress(ValueError):  # what it said before holds until it can be read again
                self._pools.take(name, tree)
        for key, _ in self._nodes.entries():
            self._queue.add(key)

    def reconcile(self, key: Key) -> Result:
        """Give one node what it lacks."""
        node = self._nodes.get(key)
        if node is None or (self._operated and GPU in node.status.capacity):
            return DONE
        plan = decide(node, self._hardware(node))
        try:
            if plan.labels:
                self._client.patch("nodes", key, {"metadata": {"labels": plan.labels}})
            if plan.resources:
                status = {"capacity": plan.resources, "allocatable": dict(plan.resources)}
                self._client.patch("nodes", key, {"status": status}, subresource="status")
        except NotFound:
            return DONE
        return DONE

    def _hardware(self, node: PooledNode) -> Hardware | None:
        pool = self._pools.pool_named_by(node.metadata.labels)
        if pool is None:
            return None
        try:
            return self._pools.hardware(pool)
        except ValueError:
            return None  # a profile that is not there yet

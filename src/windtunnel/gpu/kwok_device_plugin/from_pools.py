"""GPU capacity of played nodes without an operator: straight from the documents of their pools.

For each played node that names a pool, the pool's document decides the extended resources in its
status and the ``nvidia.com/gpu.*`` labels that GPU feature discovery would give. Only what differs
is written, and only these fields; when a document changes, every node of the pool follows.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from windtunnel.client import Change, Client
from windtunnel.client.cache import Cache
from windtunnel.devices import GPU, POOL_NAMESPACE, TOPOLOGY_NAME
from windtunnel.gpu.kwok_device_plugin.amounts import EquippedNode, GpuAmounts, lacking
from windtunnel.gpu.pools import Hardware, Pools
from windtunnel.kernel import DONE, Loop, Result, Worker
from windtunnel.machinery.errors import NotFound
from windtunnel.machinery.tree import Key, Tree


@dataclass(frozen=True, slots=True)
class Plan:
    """What one node lacks; empty where nothing does."""

    labels: dict[str, str]
    status: Tree


def decide(node: EquippedNode, pool: Hardware | None) -> Plan:
    """Compare a node with its pool. One that is not played, or of no known pool, lacks nothing."""
    if pool is None or not node.metadata.played or node.metadata.deletion_timestamp is not None:
        return Plan({}, {})
    capacity = pool.capacity()
    return Plan(
        {k: v for k, v in pool.labels().items() if node.metadata.labels.get(k) != v},
        lacking(node, GpuAmounts(capacity, capacity), set()),
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
        self._pools = Pools(TOPOLOGY_NAME)
        self._operated = False
        self._stop_pools: Callable[[], None] | None = None
        self._nodes: Cache[EquippedNode] = Cache(client, "nodes", EquippedNode)

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
        if name == TOPOLOGY_NAME:
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
            if plan.status:
                self._client.patch("nodes", key, {"status": plan.status}, subresource="status")
        except NotFound:
            return DONE
        return DONE

    def _hardware(self, node: EquippedNode) -> Hardware | None:
        pool = self._pools.pool_named_by(node.metadata.labels)
        if pool is None:
            return None
        try:
            return self._pools.hardware(pool)
        except ValueError:
            return None  # a profile that is not there yet

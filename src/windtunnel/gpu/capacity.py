"""GPU capacity of played nodes: what a device plugin and GPU feature discovery would report.

For each played node that names a pool, the pool's document decides the extended resources in its
status and the ``nvidia.com/gpu.*`` labels. Only what differs is written, and only these fields;
when a document changes, every node of the pool follows.

Source: fake-gpu-operator 0.2 (kwok-gpu-device-plugin, status-exporter labels).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from windtunnel.client import Change, Client
from windtunnel.client.cache import Cache
from windtunnel.devices import (
    PLAYED,
    POOL_LABEL,
    POOL_NAMESPACE,
    GpuPool,
    is_pool_config_map,
    parse_pools,
)
from windtunnel.kernel import DONE, Loop, Result, Worker
from windtunnel.machinery.errors import NotFound
from windtunnel.machinery.tree import Key


class _Metadata(msgspec.Struct, rename="camel"):
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    deletion_timestamp: str | None = None


class _Status(msgspec.Struct):
    capacity: dict[str, str] = {}
    allocatable: dict[str, str] = {}


class NodeView(msgspec.Struct):
    """What capacity looks at."""

    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    status: _Status = msgspec.field(default_factory=_Status)


@dataclass(frozen=True, slots=True)
class Plan:
    """What one node lacks; empty where nothing does."""

    labels: dict[str, str]
    resources: dict[str, str]


def decide(node: NodeView, pool: GpuPool | None) -> Plan:
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


class GpuCapacity:
    """Keeps the GPUs of played nodes as their pools say."""

    name = "gpu-capacity"

    def __init__(self, client: Client, loop: Loop) -> None:
        self._client = client
        self._queue = Worker(loop, self).queue
        self._pools: dict[str, GpuPool] = {}
        self._pools_in: dict[Key, tuple[str, ...]] = {}
        self._stop_pools: Callable[[], None] | None = None
        self._nodes: Cache[NodeView] = Cache(client, "nodes", NodeView, indices={"pool": _pool_of})

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
        if change.type == "SYNCED" or not is_pool_config_map(*change.key):
            return
        for name in self._pools_in.pop(change.key, ()):
            self._pools.pop(name, None)
        if change.type == "DELETED":
            return
        try:
            pools = parse_pools(change.tree())
        except ValueError:
            return  # what the nodes have stays until the document can be read again
        self._pools |= pools
        self._pools_in[change.key] = tuple(pools)
        for name in pools:
            for key, _ in self._nodes.by("pool", name):
                self._queue.add(key)

    def reconcile(self, key: Key) -> Result:
        """Give one node what it lacks."""
        node = self._nodes.get(key)
        if node is None:
            return DONE
        plan = decide(node, self._pools.get(node.metadata.labels.get(POOL_LABEL, "")))
        try:
            if plan.labels:
                self._client.patch("nodes", key, {"metadata": {"labels": plan.labels}})
            if plan.resources:
                status = {"capacity": plan.resources, "allocatable": dict(plan.resources)}
                self._client.patch("nodes", key, {"status": status}, subresource="status")
        except NotFound:
            return DONE
        return DONE


def _pool_of(key: Key, node: NodeView) -> tuple[str, ...]:
    pool = node.metadata.labels.get(POOL_LABEL)
    return (pool,) if pool else ()

"""The exporter as a part: watches topologies, keeps pages, labels, files and zones in line.

Only what may have changed is made anew, and changes gather for a moment, for each pod brings some.
A node whose load is a range gets fresh numbers every ten seconds, as a real GPU would; labels are
looked at after each change of a topology, and put right by an update of the whole node, which is
what the operator's role allows. A document that cannot be read leaves everything as it was.

Source: fake-gpu-operator 0.2, both forms of its status-exporter.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec
from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest

from windtunnel.client import Change, Client
from windtunnel.devices import (
    NODE_NAME_LABEL,
    TOPOLOGY_KEY,
    ClusterTopology,
    NodeTopology,
    Numa,
    Span,
    drawn,
    gpu_load,
    node_config_map_name,
    parse_cluster_topology,
    parse_node_topology,
    topology_text,
)
from windtunnel.gpu.exporter.answers import answer
from windtunnel.gpu.exporter.demand import Demand, asker
from windtunnel.gpu.exporter.holdings import cpus_per_zone, holdings
from windtunnel.gpu.exporter.hostfiles import usage_files, write_usage, write_zones
from windtunnel.gpu.exporter.labels import relabelled
from windtunnel.gpu.exporter.page import Page, exporter_name, joined, page_of
from windtunnel.gpu.exporter.settings import Settings
from windtunnel.gpu.exporter.zones import RESOURCE, zones_of
from windtunnel.gpu.http_server import HttpServer
from windtunnel.gpu.marks import Marks
from windtunnel.kernel import DONE, Line, Loop, Result, Settled, Ticket, Worker
from windtunnel.machinery.errors import Invalid
from windtunnel.machinery.tree import Key, Tree, dig

if TYPE_CHECKING:
    from windtunnel.gpu.exporter.pod_resources import PodResources

REFRESH_SECONDS: Final = 10.0
"""How often ranges are drawn from anew."""
_GATHER_SECONDS: Final = 1.0
"""How long changes of one topology gather before it is read: a pod that comes changes it twice."""
_LABELS_SECONDS: Final = 5.0
"""How long after that a played node's labels are looked at: reading a node costs a request."""
_MANAGER: Final = "fake-gpu-operator"


class _ConfigMap(msgspec.Struct):
    metadata: Marks = msgspec.field(default_factory=Marks)
    data: dict[str, str] = {}


_decoder = msgspec.json.Decoder(_ConfigMap)


class Exporter:
    """Tells what topologies say, of one node or of all that are played.

    Args:
        client: Of the API server with the topologies.
        loop: Whose steps do the work.
        settings: Which nodes, and where.
        below: Draws one of 0 … n-1.
    """

    name = "status-exporter"

    def __init__(
        self,
        client: Client,
        loop: Loop,
        settings: Settings,
        below: Callable[[int], int] = secrets.randbelow,
    ) -> None:
        self._client, self._loop, self._settings, self._below = client, loop, settings, below
        self._queue = Worker(loop, self).queue
        self._texts: dict[str, str] = {}
        self._unread: Line[str] = Line(loop, self.name, self._read)
        self._topologies: dict[str, NodeTopology] = {}
        self._pages: dict[str, Page] = {}
        self._demand = Demand(loop, asker(settings.prometheus_url), self._refresh_demand)
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self.server = HttpServer(settings.host, settings.port, partial(answer, text=self.text))
        self._pod_resources = _pod_resources(settings)
        self._stop_watch: Callable[[], None] | None = None
        self._tickets: dict[str, Ticket] = {}

    def start(self) -> None:
        """Serve, and watch.

        Raises:
            NoPort: metrics cannot be served.
            NoSocket: pod resources cannot.
        """
        self.server.start()
        if self._pod_resources is not None:
            self._pod_resources.start()
        settings = self._settings
        only = ""
        if settings.node:
            name = node_config_map_name(settings.topology_name, settings.node)
            only = f"metadata.name={name}"
        self._stop_watch = self._client.watch(
            "configmaps", self._changed, namespace=settings.namespace, field_selector=only
        )
        self._every("refresh", REFRESH_SECONDS, self._refresh)
        if settings.node:
            self._every("export", settings.interval_seconds, self._export_again)

    def stop(self) -> None:
        """Watch and serve no more."""
        if self._stop_watch is not None:
            self._stop_watch()
            self._stop_watch = None
        for ticket in self._tickets.values():
            ticket.cancel()
        if self._pod_resources is not None:
            self._pod_resources.stop()
        self.server.stop()

    def text(self) -> str:
        """Return what is to be scraped; called from any thread."""
        pages = [self._pages[node] for node in sorted(self._pages.copy()) if node in self._pages]
        return joined(pages) + generate_latest(self._registry).decode()

    def _every(self, name: str, seconds: float, call: Callable[[], None]) -> None:
        def step() -> None:
            self._tickets[name] = self._loop.call_after(seconds, step)
            call()

        self._tickets[name] = self._loop.call_after(seconds, step)

    def _changed(self, change: Change) -> None:
        if change.type == "SYNCED":
            return
        node = self._node_of(change.key.name)
        if not node:
            return
        found = _decoder.decode(change.body)
        if change.type != "DELETED" and self._is_ours(found):
            self._texts[node] = found.data.get(TOPOLOGY_KEY, "")
            pause = _GATHER_SECONDS if node in self._topologies else 0.0
            self._unread.queue.add_after(node, pause)
        elif not self._settings.node:
            # Of the node we run on the last that was known goes on being told.
            for known in (self._texts, self._topologies, self._pages):
                known.pop(node, None)
            self._unread.drop(node)
            self._queue.drop(node)

    def _read(self, nodes: Sequence[str]) -> list[Settled]:
        for node in nodes:
            try:
                topology = parse_node_topology(self._texts[node])
            except ValueError as error:
                # What was told stays so until the text changes.
                self._loop.report(self.name, node, error)
                continue
            fresh = node not in self._topologies
            self._topologies[node] = topology
            self._tell(node, topology)
            if any(not self._demand.knows(uid) for uid in _following([topology])):
                self._ask()
            later = not fresh and not self._settings.node
            self._queue.add_after(node, _LABELS_SECONDS if later else 0.0)
        return [DONE] * len(nodes)

    def _node_of(self, name: str) -> str:
        """Return the node that a ConfigMap is of, by its name; "" for any other ConfigMap."""
        prefix = node_config_map_name(self._settings.topology_name, "")
        node = name.removeprefix(prefix)
        if node == name or (self._settings.node and node != self._settings.node):
            return ""
        return node

    def _is_ours(self, found: _ConfigMap) -> bool:
        if self._settings.node:
            return True
        metadata = found.metadata
        return NODE_NAME_LABEL in metadata.labels and metadata.played

    def _tell(self, node: str, topology: NodeTopology) -> None:
        loads = [
            gpu_load(gpu, topology.gpu_memory, self._draw, self._demand.load)
            for gpu in topology.gpus
        ]
        host_name = exporter_name(node) if self._settings.node else node
        self._pages[node] = page_of(topology, host_name, loads)

    def _draw(self, span: Span) -> int:
        return drawn(span, self._below)

    def _refresh(self) -> None:
        """Draw anew for every node whose load is a range."""
        for node, topology in self._topologies.items():
            if _varies(topology):
                self._tell(node, topology)
        self._ask()

    def _ask(self) -> None:
        self._demand.refresh(_following(self._topologies.values()))

    def _refresh_demand(self) -> None:
        for node, topology in self._topologies.items():
            if _following([topology]):
                self._tell(node, topology)

    def _export_again(self) -> None:
        for node in self._topologies:
            self._queue.add(node)

    def reconcile(self, node: str) -> Result:
        """Bring one node's labels, files and zones in line with its topology."""
        topology = self._topologies.get(node)
        if topology is None:
            return DONE
        if self._settings.node:
            self._write_files(topology)
        found = self._client.get("nodes", Key("", node))
        if found is None:
            return DONE
        put_right = relabelled(found, topology)
        if put_right is not None:
            try:
                self._client.update("nodes", put_right)
            except Invalid as error:
                # It stays so until the topology changes, which brings the node back here.
                self._loop.report(self.name, node, error)
        if self._settings.zones or self._pod_resources is not None:
            self._tell_zones(found, topology)
        return DONE

    def _write_files(self, topology: NodeTopology) -> None:
        settings = self._settings
        files = usage_files(topology, settings.reservation_namespace, self._draw)
        try:
            write_usage(settings.root, files)
        except OSError as error:
            self._loop.report(self.name, "files", error)

    def _tell_zones(self, node: Tree, topology: NodeTopology) -> None:
        numa = numa_of(node, self._cluster_topology())
        if numa is None:
            return
        try:
            wanted = zones_of(node, topology, numa, live=self._settings.live_zones)
            if self._pod_resources is not None:
                cpus = cpus_per_zone(node, numa)
                self._pod_resources.replace(holdings(topology, numa, cpus, self._pod))
                write_zones(self._settings.root, numa.zones, cpus)
        except (ValueError, OSError) as error:
            self._loop.report(self.name, node["metadata"]["name"], error)
            return
        if self._settings.zones:
            self._client.apply(RESOURCE, wanted, manager=_MANAGER, force=True)

    def _pod(self, key: Key) -> Tree | None:
        return self._client.get("pods", key)

    def _cluster_topology(self) -> ClusterTopology:
        settings = self._settings
        found = self._client.get("configmaps", Key(settings.namespace, settings.topology_name))
        if found is None:
            return ClusterTopology()
        try:
            return parse_cluster_topology(topology_text(found))
        except ValueError as error:
            self._loop.report(self.name, settings.topology_name, error)
            return ClusterTopology()


def _pod_resources(settings: Settings) -> PodResources | None:
    """Return what serves pod resources, where that is wanted."""
    if not settings.pod_resources:
        return None
    # Here, because gRPC costs 12 MiB, and few want it.
    from windtunnel.gpu.exporter.pod_resources import PodResources

    return PodResources(settings.root)


def numa_of(node: Tree, cluster: ClusterTopology) -> Numa | None:
    """Return the zones of a node's pool, or None where it has none."""
    name = dig(node, "metadata", "labels", cluster.label_key)
    pool = (cluster.pools or {}).get(name or "")
    return None if pool is None or pool.numa is None or pool.numa.zones < 1 else pool.numa


def _varies(topology: NodeTopology) -> bool:
    return any(
        usage.utilization.min != usage.utilization.max
        for gpu in topology.gpus
        for usage in gpu.status.pod_gpu_usage_status.values()
    )


def _following(topologies: Iterable[NodeTopology]) -> set[str]:
    """Return the uids of pods whose load follows requests."""
    return {
        uid
        for topology in topologies
        for gpu in topology.gpus
        for uid, usage in gpu.status.pod_gpu_usage_status.items()
        if usage.use_knative_utilization
    }

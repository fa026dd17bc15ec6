"""The status updater: keeps the document of every node of a pool true.

A visit of a node reads what is there (the node, its pool, its pods, the document as it stands),
decides, and writes what differs, so that it does not matter what happened in between or while
nobody looked. What is wrong becomes an Event on whatever it is wrong with; the rest goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from windtunnel.client import Change, Client
from windtunnel.client.cache import Cache
from windtunnel.client.events import LONGEST_WORDS, Recorder, Subject
from windtunnel.devices import MIG_MAPPING, NodeTopology
from windtunnel.gpu.pools import Hardware, PoolFlaw
from windtunnel.gpu.status_updater.accounting import Account, account
from windtunnel.gpu.status_updater.claimant import RESERVED_GPU
from windtunnel.gpu.status_updater.claimants import Claimants
from windtunnel.gpu.status_updater.claims import Claims
from windtunnel.gpu.status_updater.complaints import Complaints, NodeVisit
from windtunnel.gpu.status_updater.mapped_slices import mapped_slices
from windtunnel.gpu.status_updater.members import MemberNode
from windtunnel.gpu.status_updater.mock_backend import MockBackend
from windtunnel.gpu.status_updater.node_documents import NodeDocument, NodeDocuments
from windtunnel.gpu.status_updater.pool_documents import PoolDocuments
from windtunnel.gpu.status_updater.runai_rule import RunaiRule
from windtunnel.gpu.status_updater.settings import Settings
from windtunnel.gpu.status_updater.wanted import loss, wanted
from windtunnel.gpu.status_updater.workloads import Workloads
from windtunnel.kernel import DONE, Loop, Result, Ticket, Worker
from windtunnel.machinery.errors import ApiError, NotFound
from windtunnel.machinery.tree import Key

COMPONENT: Final = "status-updater"
_CLAIMS: Final = "resourceclaims.resource.k8s.io"
_ON_NODES: Final = "spec.nodeName!="
_NODES_COME_SECONDS: Final = 10.0
"""How long a cluster that has just come up may be without a node."""
_GATHER_SECONDS: Final = 0.03
"""Pods come in bursts; what comes within this time costs a node one write."""
_RUSH: Final = 20
"""So many nodes at once are a rush, in which the same pods are soon heard of again."""
_RUSH_SECONDS: Final = 1.0
"""How long changes gather then: a pod that comes and runs is told in one write."""
_FINAL_REFUSALS: Final = frozenset({400, 403, 413, 422})
"""Asking again at once would not help; what an administrator mends is seen later."""
_LATER: Final = Result(again_in=30.0)


class StatusUpdater:
    """Keeps documents, labels and reservations as pools and pods are."""

    name = COMPONENT

    def __init__(self, client: Client, loop: Loop, settings: Settings | None = None) -> None:
        self._settings = settings or Settings()
        self._client = client
        self._queue = Worker(loop, self).queue
        self._events = Recorder(client, loop, COMPONENT)
        self._pool_documents = PoolDocuments(client, self._events, self._settings)
        self._pools = self._pool_documents.pools
        self._documents = NodeDocuments(
            client, self._settings.topology_name, self._settings.topology_namespace
        )
        self._nodes: Cache[MemberNode] = Cache(client, "nodes", MemberNode)
        self._claimants = Claimants(self._settings.reservation_namespace)
        self._claims, self._workloads = Claims(), Workloads(client)
        self._stops: list[Callable[[], None]] = []
        self._unknown = 0
        """Watches that have not yet delivered what there was at the start."""
        self._hardware: dict[str, Hardware] = {}
        """By node: what its document was last brought in line with."""
        self._complaints = Complaints(self._events)
        self._owed: set[str] = set()
        """Nodes that are to have a document, by the ways of the original: only those that came."""
        self._mocks = MockBackend(client, loop, self._settings, self._pools)
        self._rule = RunaiRule(client, loop, self._settings.runai_seconds)
        self._loop = loop
        self._ticket: Ticket | None = None

    def start(self) -> None:
        """Begin to watch.

        Raises:
            DataError: there is no document of the cluster.
        """
        self._pool_documents.read_cluster()
        namespace = self._settings.topology_namespace
        self._unknown = 1  # nothing is known before every watch has begun
        self._watch("configmaps", self._config_map_changed, namespace=namespace)
        self._unknown += 1
        self._nodes.on_change(self._node_changed)
        self._nodes.when_synced(self._one_known)
        self._nodes.start()
        self._stops.append(self._nodes.stop)
        self._watch("pods", self._pod_changed, field_selector=_ON_NODES)
        try:
            self._watch(_CLAIMS, self._claim_changed)
        except NotFound:
            self._one_known()  # a cluster without claims
        self._one_known()
        self._ticket = self._loop.call_after(_NODES_COME_SECONDS, self._tell_if_unused)
        if self._settings.runai_seconds:
            self._rule.look()

    def stop(self) -> None:
        """Watch nothing any more."""
        for stop in self._stops:
            stop()
        self._stops.clear()
        if self._ticket is not None:
            self._ticket.cancel()
        self._mocks.stop()
        self._rule.stop()

    def reconcile(self, key: str) -> Result:
        """Bring one node's document, labels and reservations in line."""
        if not self._pools.cluster.label_key:
            return DONE  # nobody knows which nodes are of a pool: everything stays as it is
        node = self._nodes.get(Key("", key))
        pool = None if node is None else self._pools.pool_named_by(node.labels)
        if node is None or pool is None:
            self._leave(key, node)
            return DONE
        visit = self._complaints.visit(Subject("Node", key, uid=node.uid))
        document = self._documents.get(key)
        hardware: Hardware | None = None
        try:
            hardware = self._pools.hardware(pool)
        except ValueError as error:
            reason = "BrokenPool" if isinstance(error, PoolFlaw) else "UnknownPool"
            end = ", its last state holds" if document is not None else ""
            words = f"no GPUs for node {key}{end}: {error}"
            visit.tell(reason, words)
        else:
            hardware = self._recut(key, node, hardware, visit)
        topology = self._wanted(key, hardware, document, visit)
        result = DONE
        if topology is not None:
            result = self._keep(key, node, topology, document, visit)
            if hardware is not None:
                self._hardware[key] = hardware
        self._complaints.end(visit)
        return result

    def _recut(self, key: str, node: MemberNode, hardware: Hardware, visit: NodeVisit) -> Hardware:
        """Cut GPUs as the node itself says that they are; the original takes no notice of it."""
        if not node.mapping or self._pools.cluster.compat:
            return hardware
        try:
            return hardware.recut(mapped_slices(node.mapping, hardware.shape.product))
        except ValueError as error:
            words = f"node {key} cannot be cut as {MIG_MAPPING} says, its last state holds: {error}"
            visit.tell("MigConfigFailed", words)
            return self._hardware.get(key, hardware)

    def _wanted(
        self,
        key: str,
        hardware: Hardware | None,
        document: NodeDocument | None,
        visit: NodeVisit,
    ) -> NodeTopology | None:
        """Return which GPUs the node is to have; None where nobody can say."""
        current = None if document is None else document.topology
        if document is not None and document.flaw:
            words = f"the document of node {key} cannot be read, its last state holds: "
            visit.tell("BrokenTopology", words + document.flaw)
        compat = self._pools.cluster.compat
        if current is None and compat and key not in self._owed:
            return None
        known = self._hardware.get(key)
        found = wanted(key, hardware, known, current, made_only=bool(compat))
        if current is not None and found is not None and found is not current:
            lost = loss(key, current, found)
            if lost:
                self._events.warning(visit.node, "GPUsRemoved", lost[:LONGEST_WORDS])
        return found

    def _keep(
        self,
        key: str,
        node: MemberNode,
        topology: NodeTopology,
        document: NodeDocument | None,
        visit: NodeVisit,
    ) -> Result:
        """Account for the pods of a node, and write what differs."""
        found = account(
            topology,
            self._claimants.on(key),
            self._settings.reservation_namespace,
            lambda one: self._claims.devices(one.key.namespace, one.claims),
            self._workloads.of,
        )
        for flaw in found.flaws:
            pod = Subject("Pod", flaw.pod.name, flaw.pod.namespace, flaw.uid)
            visit.tell(flaw.reason, flaw.message, pod)
        refused = _refusal_of(lambda: self._documents.keep(key, found, node.played))
        if refused:
            words = f"the document of node {key} is refused: {refused}"
            visit.tell("TopologyRefused", words)
            return _LATER
        if document is None:
            self._owed.discard(key)
        refused = _refusal_of(lambda: self._reserve(found))
        if refused:
            words = f"reservation pods cannot be told which GPU they hold: {refused}"
            visit.tell("ReservationRefused", words)
        if self._settings.labels_nodes:
            self._patch_labels(key, node.missing_labels())
        return _LATER if refused else DONE

    def _reserve(self, found: Account) -> None:
        """Tell each reservation pod which GPU it holds."""
        for pod, gpu in found.reservations:
            with suppress(NotFound):  # its end is on the way here
                self._client.patch("pods", pod, {"metadata": {"annotations": {RESERVED_GPU: gpu}}})

    def _leave(self, key: str, node: MemberNode | None) -> None:
        """Take back what was given to a node that is in no pool; one that never was is not ours."""
        if self._documents.get(key) is None and key not in self._hardware:
            return
        if node is not None and self._settings.labels_nodes:
            self._patch_labels(key, dict.fromkeys(node.given_labels()))
        self._documents.delete(key)
        self._hardware.pop(key, None)
        self._complaints.forget(key)

    def _patch_labels(self, key: str, labels: dict[str, str] | dict[str, None]) -> None:
        if labels:
            with suppress(NotFound):  # its end is on the way here
                self._client.patch("nodes", Key("", key), {"metadata": {"labels": labels}})

    def _watch(
        self,
        resource: str,
        deliver: Callable[[Change], None],
        *,
        namespace: str = "",
        field_selector: str = "",
    ) -> None:
        self._unknown += 1

        def changed(change: Change) -> None:
            if change.type == "SYNCED":
                self._one_known()
            else:
                deliver(change)

        self._stops.append(
            self._client.watch(
                resource, changed, namespace=namespace, field_selector=field_selector
            )
        )

    def _one_known(self) -> None:
        self._unknown -= 1
        if not self._unknown:
            self._visit_all()

    def _visit_all(self) -> None:
        # Real nodes first: somebody waits for what runs there, and thousands may be played.
        played = {key.name: node.played is not None for key, node in self._nodes.entries()}
        names = sorted(played, key=played.__getitem__)
        for name in dict.fromkeys([*names, *self._documents.nodes()]):
            self._visit(name)
        self._mocks.look()

    def _visit(self, node: str, *, gather: bool = False) -> None:
        """Put a node in line; before everything is known nothing is decided."""
        if self._unknown:
            return
        if gather:
            rush = len(self._queue) + self._queue.waiting > _RUSH
            self._queue.add_after(node, _RUSH_SECONDS if rush else _GATHER_SECONDS)
        else:
            self._queue.add(node)

    def _config_map_changed(self, change: Change) -> None:
        node = self._documents.take(change)
        if node:
            self._visit(node)
        elif self._pool_documents.take(change) and not self._unknown:
            self._visit_all()

    def _tell_if_unused(self) -> None:
        self._pool_documents.tell_if_unused(node.labels for _, node in self._nodes.entries())

    def _node_changed(self, key: Key, before: MemberNode | None, after: MemberNode | None) -> None:
        if before != after:
            label_key = self._pools.cluster.label_key
            if after is not None and (before is None or label_key not in before.labels):
                self._owed.add(key.name)
            self._visit(key.name)

    def _pod_changed(self, change: Change) -> None:
        before, after = self._claimants.take(change)
        if before is not None:
            self._workloads.forget(before.uid)
            if after is None or after.node != before.node:
                self._visit(before.node, gather=True)
        if after is not None and after != before:
            self._visit(after.node, gather=True)

    def _claim_changed(self, change: Change) -> None:
        if self._claims.take(change):
            for node in self._claimants.nodes_of(change.key.namespace, change.key.name):
                self._visit(node)


def _refusal_of(write: Callable[[], None]) -> str:
    """Write; return why it is refused for good, or "" where it is not."""
    try:
        write()
    except ValueError as error:
        return str(error)
    except ApiError as error:
        if error.code not in _FINAL_REFUSALS:
            raise
        return error.message
    return ""

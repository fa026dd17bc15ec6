"""The list of controllers, in order, and how they start and stop together."""

from __future__ import annotations

from collections.abc import Collection

from windtunnel.client import Client
from windtunnel.client.events import Recorder
from windtunnel.controllers.budget.reconciler import Budgets
from windtunnel.controllers.claim_binding import ClaimBinding
from windtunnel.controllers.claim_protection import ClaimProtection
from windtunnel.controllers.controller import Controller
from windtunnel.controllers.cronjob.reconciler import CronJobs
from windtunnel.controllers.daemonset.reconciler import DaemonSets
from windtunnel.controllers.deployment.reconciler import Deployments
from windtunnel.controllers.endpoints.mirrored import MirroredSlices
from windtunnel.controllers.endpoints.selected import ServiceEndpoints, ServiceSlices
from windtunnel.controllers.garbage.collector import GarbageCollector
from windtunnel.controllers.garbage.graph import Graph
from windtunnel.controllers.job.afterwards import FinishedJobs, JobOrphans
from windtunnel.controllers.job.reconciler import Jobs
from windtunnel.controllers.namespace import Namespaces
from windtunnel.controllers.node.eviction import TaintEvictions
from windtunnel.controllers.node.health import NodeHealth
from windtunnel.controllers.node.metadata import NodeMetadata
from windtunnel.controllers.node.pod_gc import PodGarbage
from windtunnel.controllers.node.taints import ExecutionTaints, SchedulingTaints
from windtunnel.controllers.quota import Quotas
from windtunnel.controllers.replicaset import ReplicaSets
from windtunnel.controllers.resources import Resources
from windtunnel.controllers.serviceaccount import RootCertificates, ServiceAccounts
from windtunnel.controllers.settings import Settings
from windtunnel.controllers.sources import Sources
from windtunnel.controllers.statefulset.reconciler import StatefulSets
from windtunnel.kernel import Loop, Worker


class Controllers:
    """Controllers that share their caches.

    Args:
        client: Whom they talk to; several watches and many writes.
        loop: Whose steps they are.
        settings: The flags of the real controller manager.
        only: Names of the controllers to start; None for all.
        without: Names of controllers to leave out.
    """

    def __init__(
        self,
        client: Client,
        loop: Loop,
        settings: Settings | None = None,
        *,
        only: Collection[str] | None = None,
        without: Collection[str] = (),
    ) -> None:
        self._client, self._loop, self._settings = client, loop, settings or Settings()
        self._only, self._without = only, without
        self.sources = Sources(client)
        self.resources = Resources(client, loop)
        self.graph = Graph(client, self.resources, self.sources.whole)
        self.workers: dict[str, Worker] = {}

    def start(self) -> None:
        """Watch, and begin once everything that exists has been seen."""
        self.sources.start(self._begin)

    def stop(self) -> None:
        """Watch nothing any more; what is queued may still be visited."""
        self.graph.stop()
        self.resources.stop()
        self.sources.stop()

    def _begin(self) -> None:
        self.resources.start()  # first, for nobody can work before it is known what there is
        for controller in self._list():
            name = controller.name
            if name in self._without or (self._only is not None and name not in self._only):
                continue
            worker = Worker(self._loop, controller)
            self.workers[name] = worker
            controller.attach(worker.queue)
        self.graph.start()

    def _list(self) -> list[Controller]:
        """Return every controller, in the order in which they hear of changes."""
        client, loop, settings = self._client, self._loop, self._settings
        clock, sources = loop.clock, self.sources
        graph, resources = self.graph, self.resources

        def recorder(component: str) -> Recorder:
            return Recorder(client, loop, component)

        node_events = recorder("node-controller")
        controllers: list[Controller] = [
            ServiceAccounts(client, sources),
            Namespaces(client, clock, sources, resources),
            NodeHealth(client, clock, sources, settings, node_events),
            SchedulingTaints(client, clock, sources),
            ExecutionTaints(client, clock, sources, settings),
            NodeMetadata(client, sources),
            TaintEvictions(client, clock, sources, recorder("taint-eviction-controller")),
            ReplicaSets(client, clock, sources, recorder("replicaset-controller")),
            Deployments(client, clock, sources, recorder("deployment-controller")),
            DaemonSets(client, clock, sources, recorder("daemonset-controller")),
            StatefulSets(client, clock, sources, recorder("statefulset-controller")),
            CronJobs(client, clock, sources, recorder("cronjob-controller")),
            Jobs(client, clock, sources, recorder("job-controller")),
            JobOrphans(client, sources),
            FinishedJobs(client, clock, sources),
            Quotas(client, clock, sources, graph, settings.resource_quota_sync_period),
            Budgets(client, clock, sources, resources, recorder("controllermanager")),
            GarbageCollector(client, graph, resources, recorder("garbage-collector-controller")),
            PodGarbage(client, clock, sources, settings),
            ClaimProtection(client, sources),
            ClaimBinding(client, sources, recorder("persistentvolume-controller")),
            ServiceSlices(client, sources),
            ServiceEndpoints(client, sources),
            MirroredSlices(client, sources),
        ]
        if settings.root_ca:
            controllers.insert(1, RootCertificates(client, sources, settings.root_ca))
        return controllers

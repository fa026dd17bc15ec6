"""What all controllers read: one cache a resource, shared, so that a change is decoded once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from windtunnel.client import Client
from windtunnel.client.cache import Cache
from windtunnel.controllers.budget.views import BudgetView
from windtunnel.controllers.cronjob.views import CronJobView
from windtunnel.controllers.daemonset.views import DaemonSetView
from windtunnel.controllers.deployment.views import DeploymentView
from windtunnel.controllers.endpoints.views import EndpointsView, ServiceView, SliceView
from windtunnel.controllers.job.views import JobView
from windtunnel.controllers.node.views import LeaseView, NodeView
from windtunnel.controllers.ownership import PodOwners
from windtunnel.controllers.revisions import RevisionView
from windtunnel.controllers.statefulset.views import StatefulSetView
from windtunnel.controllers.views import (
    ClaimView,
    ConfigMapView,
    NamespaceView,
    PlainView,
    PodView,
    QuotaView,
    ReplicaSetView,
)
from windtunnel.machinery.tree import Key

ROOT_CA: Final = "kube-root-ca.crt"


class Sources:
    """The caches.

    Pods are found by "owner" (the controller's uid), "node", "namespace", "orphans" (namespace, if
    they have no controller) and "state" (``deleting``, ``finished``). Services that select pods are
    found by "selecting" (namespace), endpoint slices by "service" (the text of its key).
    """

    def __init__(self, client: Client) -> None:
        self.pods: Cache[PodView] = Cache(
            client,
            "pods",
            PodView,
            indices={
                "owner": _owner,
                "node": _node,
                "orphans": _orphan,
                "namespace": _namespace,
                "state": _state,
            },
        )
        self.pod_owners = PodOwners(self.pods)
        self.nodes: Cache[NodeView] = Cache(client, "nodes", NodeView)
        self.leases: Cache[LeaseView] = Cache(
            client, "leases.coordination.k8s.io", LeaseView, namespace="kube-node-lease"
        )
        self.replica_sets: Cache[ReplicaSetView] = Cache(
            client,
            "replicasets.apps",
            ReplicaSetView,
            indices={"owner": _owner, "namespace": _namespace},
        )
        self.deployments: Cache[DeploymentView] = Cache(
            client, "deployments.apps", DeploymentView, indices={"namespace": _namespace}
        )
        self.daemon_sets: Cache[DaemonSetView] = Cache(
            client, "daemonsets.apps", DaemonSetView, indices={"namespace": _namespace}
        )
        self.stateful_sets: Cache[StatefulSetView] = Cache(
            client, "statefulsets.apps", StatefulSetView, indices={"namespace": _namespace}
        )
        self.revisions: Cache[RevisionView] = Cache(
            client,
            "controllerrevisions.apps",
            RevisionView,
            indices={"owner": _owner, "orphans": _orphan},
        )
        self.jobs: Cache[JobView] = Cache(
            client, "jobs.batch", JobView, indices={"owner": _owner, "namespace": _namespace}
        )
        self.cron_jobs: Cache[CronJobView] = Cache(client, "cronjobs.batch", CronJobView)
        self.services: Cache[ServiceView] = Cache(
            client, "services", ServiceView, indices={"selecting": _selecting}
        )
        self.endpoints: Cache[EndpointsView] = Cache(client, "endpoints", EndpointsView)
        self.slices: Cache[SliceView] = Cache(
            client,
            "endpointslices.discovery.k8s.io",
            SliceView,
            indices={"service": _service},
        )
        self.namespaces: Cache[NamespaceView] = Cache(client, "namespaces", NamespaceView)
        self.claims: Cache[ClaimView] = Cache(client, "persistentvolumeclaims", ClaimView)
        self.accounts: Cache[PlainView] = Cache(client, "serviceaccounts", PlainView)
        self.root_cas: Cache[ConfigMapView] = Cache(
            client, "configmaps", ConfigMapView, field_selector=f"metadata.name={ROOT_CA}"
        )
        self.quotas: Cache[QuotaView] = Cache(
            client, "resourcequotas", QuotaView, indices={"namespace": _namespace}
        )
        self.budgets: Cache[BudgetView] = Cache(
            client, "poddisruptionbudgets.policy", BudgetView, indices={"namespace": _namespace}
        )

    def _all(self) -> tuple[Cache[Any], ...]:
        return (
            self.namespaces, self.nodes, self.leases, self.accounts, self.root_cas, self.claims,
            self.quotas, self.budgets, self.revisions, self.deployments, self.replica_sets,
            self.daemon_sets, self.stateful_sets, self.cron_jobs, self.jobs, self.services,
            self.endpoints, self.slices, self.pods,
        )  # fmt: skip

    @property
    def whole(self) -> dict[str, Cache[Any]]:
        """The caches that hold every object of their resource."""
        partly = (self.leases, self.root_cas)
        return {cache.resource: cache for cache in self._all() if cache not in partly}

    def start(self, synced: Callable[[], None]) -> None:
        """Begin to watch; call ``synced`` once everything that exists has been seen."""
        waiting = {cache.resource for cache in self._all()}

        def one_less(resource: str) -> None:
            waiting.discard(resource)
            if not waiting:
                synced()

        for cache in self._all():
            cache.when_synced(partial(one_less, cache.resource))
        for cache in self._all():
            cache.start()

    def stop(self) -> None:
        """Watch nothing any more."""
        for cache in self._all():
            cache.stop()


def _owner(key: Key, view: Any) -> tuple[str, ...]:
    controller = view.metadata.controller
    return (controller.uid,) if controller is not None else ()


def _orphan(key: Key, view: Any) -> tuple[str, ...]:
    return (key.namespace,) if view.metadata.controller is None else ()


def _node(key: Key, view: PodView) -> tuple[str, ...]:
    return (view.spec.node_name,) if view.spec.node_name else ()


def _namespace(key: Key, view: Any) -> tuple[str, ...]:
    return (key.namespace,)


def _selecting(key: Key, view: ServiceView) -> tuple[str, ...]:
    return (key.namespace,) if view.selects else ()


def _service(key: Key, view: SliceView) -> tuple[str, ...]:
    name = view.metadata.labels.get("kubernetes.io/service-name")
    return (str(Key(key.namespace, name)),) if name else ()


def _state(key: Key, view: PodView) -> tuple[str, ...]:
    if view.metadata.deleting:
        return ("deleting", "finished") if view.finished else ("deleting",)
    return ("finished",) if view.finished else ()

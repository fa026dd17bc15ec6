"""Quota status: what a namespace uses, counted anew whenever something may have become less.

Admission counts what is created; this controller counts from the start what existed before, and
corrects what went. Source: resource-quota controller of Kubernetes v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from windtunnel.client import ChangeType, Client
from windtunnel.controllers.controller import write_status
from windtunnel.controllers.garbage.graph import Graph, Node
from windtunnel.controllers.pods import seconds
from windtunnel.controllers.sources import Sources
from windtunnel.controllers.views import PodView, QuotaView
from windtunnel.kernel import DONE, Clock, Result, WorkQueue
from windtunnel.kinds import Catalogue, builtin_kinds
from windtunnel.kinds.rules.quota_usage import matches_scopes, usage_of
from windtunnel.kinds.served.kind import Kind
from windtunnel.machinery.quantity import ZERO, Quantity
from windtunnel.machinery.tree import Key, Tree, dig

RESOURCE: Final = "resourcequotas"
_COUNT: Final = "count/"
_GROWING: Final = frozenset({"services", "persistentvolumeclaims"})
"""Resources whose use may change while they live."""
_BY_NAME: Final = {
    "services.nodeports": "services",
    "services.loadbalancers": "services",
    "secrets": "secrets",
    "configmaps": "configmaps",
    "resourcequotas": "resourcequotas",
    "replicationcontrollers": "replicationcontrollers",
    "services": "services",
}
_CLAIMS: Final = "persistentvolumeclaims"


def counted_resource(name: str) -> str:
    """Return which resource's objects use up what a quota calls ``name``."""
    if name.startswith(_COUNT):
        return name.removeprefix(_COUNT)
    if name in _BY_NAME:
        return _BY_NAME[name]
    if name.endswith((_CLAIMS, "requests.storage")):
        return _CLAIMS
    return "pods"


def is_over(pod: Tree, now: float) -> bool:
    """Whether a pod that is being deleted has outlived its grace: it counts no more."""
    deletion = dig(pod, "metadata", "deletionTimestamp")
    return deletion is not None and (seconds(deletion) or now) < now


def total(
    hard: Mapping[str, str], objects: Iterable[tuple[Kind, Tree]], spec: Tree
) -> dict[str, str]:
    """Return what these objects use, with exactly the names of ``hard``."""
    used: dict[str, Quantity] = dict.fromkeys(hard, ZERO)
    for kind, tree in objects:
        if not matches_scopes(kind, tree, spec):
            continue
        for name, value in usage_of(kind, tree).items():
            if name in used:
                used[name] = used[name] + value
    return {name: str(value) for name, value in used.items()}


class Quotas:
    """Counts what quotas bound."""

    name = "resource-quota-controller"

    def __init__(
        self,
        client: Client,
        clock: Clock,
        sources: Sources,
        graph: Graph,
        resync_seconds: float,
    ) -> None:
        self._client, self._clock, self._sources = client, clock, sources
        self._graph = graph
        self._catalogue = Catalogue(builtin_kinds())
        self._resync = resync_seconds

    def attach(self, queue: WorkQueue[Key]) -> None:
        """Queue quotas when they change, and when something of their namespace has gone."""

        def of_namespace(namespace: str) -> None:
            for key, _ in self._sources.quotas.by("namespace", namespace):
                queue.add(key)

        def quota_changed(key: Key, before: QuotaView | None, after: QuotaView | None) -> None:
            if after is not None and (before is None or before.spec != after.spec):
                queue.add(key)

        def object_changed(type_: ChangeType, node: Node, before: Node | None) -> None:
            if not node.key.namespace or not len(self._sources.quotas):
                return
            if type_ == "DELETED" or node.resource in _GROWING:
                of_namespace(node.key.namespace)

        def pod_changed(key: Key, before: PodView | None, after: PodView | None) -> None:
            if before is None or after is None:
                return
            finished = after.finished and not before.finished
            deleting = after.metadata.deleting and not before.metadata.deleting
            if finished or deleting:
                of_namespace(key.namespace)

        self._sources.quotas.on_change(quota_changed)
        self._sources.pods.on_change(pod_changed)
        self._graph.on_change(object_changed)

    def reconcile(self, key: Key) -> Result:
        """Count one quota anew."""
        quota = self._sources.quotas.get(key)
        if quota is None:
            return DONE
        hard = quota.spec.hard
        spec: Tree = {
            "scopes": list(quota.spec.scopes),
            "scopeSelector": quota.spec.scope_selector,
        }
        used = total(hard, self._objects(key.namespace, hard), spec)
        if quota.status.hard != hard or quota.status.used != used:
            gone: Tree = dict.fromkeys(quota.status.used)
            stale: Tree = dict.fromkeys(quota.status.hard)
            status: Tree = {"hard": {**stale, **hard}, "used": {**gone, **used}}
            write_status(self._client, RESOURCE, key, status)
        return Result(self._next(key.namespace))

    def _objects(self, namespace: str, hard: Mapping[str, str]) -> Iterable[tuple[Kind, Tree]]:
        now = self._clock.now()
        for resource in sorted({counted_resource(name) for name in hard}):
            try:
                kind = self._catalogue.by_resource(resource)
            except KeyError:
                continue
            for tree in self._client.list(resource, namespace):
                if resource != "pods" or not is_over(tree, now):
                    yield kind, tree

    def _next(self, namespace: str) -> float:
        """Return when to count again: after the resync, or when a pod's grace is over."""
        now = self._clock.now()
        waits = [self._resync]
        for _, pod in self._sources.pods.by("namespace", namespace):
            over = seconds(pod.metadata.deletion_timestamp)
            if over is not None and over + 1.0 > now:
                waits.append(over + 1.0 - now)
        return min(waits)

"""Services that select pods: their endpoint slices, and the older Endpoints object.

A pod's change visits the services of its namespace that select it before or after. Source:
endpointslice and endpoint controllers of Kubernetes v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from windtunnel.client import Client
from windtunnel.controllers.endpoints import slices
from windtunnel.controllers.endpoints.addresses import groups_of
from windtunnel.controllers.endpoints.packing import Group, pack
from windtunnel.controllers.endpoints.subsets import subsets_of
from windtunnel.controllers.endpoints.views import EndpointsView, ServiceView, SliceView
from windtunnel.controllers.node.views import NodeView
from windtunnel.controllers.ownership import owner_reference
from windtunnel.controllers.pods import namespace_is_going, patience, seconds
from windtunnel.controllers.sources import Sources
from windtunnel.controllers.views import PodView, find_condition
from windtunnel.kernel import DONE, Result, WorkQueue
from windtunnel.machinery.errors import AlreadyExists, Forbidden, NotFound
from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Key, Tree, dig

ENDPOINTS: Final = "endpoints"
MANAGER: Final = "endpointslice-controller.k8s.io"
_ENDPOINTS_MANAGED_BY: Final = "endpoints.kubernetes.io/managed-by"
_ENDPOINTS_MANAGER: Final = "endpoint-controller"
_MOST_ADDRESSES: Final = 1000
"""In one Endpoints object; what is beyond is cut off."""
_OVER: Final = "endpoints.kubernetes.io/over-capacity"


class _Services:
    """Queues services as they and what they select change."""

    def __init__(self, client: Client, sources: Sources) -> None:
        self._client, self._sources = client, sources

    def attach(self, queue: WorkQueue[Key]) -> None:
        """Queue a service when it, a pod it selects or an object made for it changes."""

        def pod_changed(key: Key, before: PodView | None, after: PodView | None) -> None:
            services = self._sources.services.by("selecting", key.namespace)
            if not services or (before and after and _looks(before) == _looks(after)):
                return
            for name, service in services:
                if any(pod and _selects(service, pod) for pod in (before, after)):
                    size = self._sources.pods.count("namespace", key.namespace)
                    queue.add_after(name, patience(size))

        def node_changed(key: Key, before: NodeView | None, after: NodeView | None) -> None:
            if before is not None and after is not None:
                return
            for namespace in {pod.namespace for pod, _ in self._sources.pods.by("node", key.name)}:
                for name, _ in self._sources.services.by("selecting", namespace):
                    queue.add(name)

        self._sources.services.on_change(lambda key, before, after: queue.add(key))
        self._sources.pods.on_change(pod_changed)
        self._sources.nodes.on_change(node_changed)

    def _pods(self, service: ServiceView) -> list[PodView]:
        namespace = service.metadata.namespace
        return [
            pod
            for _, pod in self._sources.pods.by("namespace", namespace)
            if _selects(service, pod)
        ]

    def _groups(self, service: ServiceView, pods: Sequence[PodView]) -> list[Group]:
        return groups_of(
            service,
            pods,
            lambda name: self._sources.nodes.get(Key("", name)),
            self._container_ports,
        )

    def _container_ports(self, pod: PodView) -> list[Tree]:
        """Return the ports that a pod's containers name; read afresh, for few services ask."""
        found = self._client.get("pods", Key(pod.metadata.namespace, pod.metadata.name))
        spec = dig(found, "spec") or {}
        sidecars = [
            each for each in spec.get("initContainers") or () if each.get("restartPolicy")
        ]  # fmt: skip
        containers = [*(spec.get("containers") or ()), *sidecars]
        return [port for container in containers for port in container.get("ports") or ()]


class ServiceSlices(_Services):
    """Keeps the endpoint slices of services."""

    name = "endpointslice-controller"

    def __init__(self, client: Client, sources: Sources) -> None:
        super().__init__(client, sources)
        self._triggers: dict[Key, dict[str, float]] = {}
        """When each pod of a service, and under "" the service, last gave cause for a write."""

    def attach(self, queue: WorkQueue[Key]) -> None:
        """Queue a service when it, a pod it selects or one of its slices changes."""
        super().attach(queue)

        def slice_changed(key: Key, before: SliceView | None, after: SliceView | None) -> None:
            if before is not None and (after is None or after.metadata != before.metadata):
                owner = before.metadata.controller
                if owner is not None and owner.kind == "Service":
                    queue.add(Key(key.namespace, owner.name))

        self._sources.slices.on_change(slice_changed)

    def reconcile(self, key: Key) -> Result:
        """Bring one service's slices in line."""
        service = self._sources.services.get(key)
        if service is None or service.metadata.deleting or not service.selects:
            self._triggers.pop(key, None)
            return DONE
        pods = self._pods(service)
        labels = _labels(service, {slices.MANAGED_BY: MANAGER, slices.SERVICE_NAME: key.name})
        present = [
            each
            for _, each in self._sources.slices.by("service", str(key))
            if each.metadata.labels.get(slices.MANAGED_BY) == MANAGER and not each.metadata.deleting
        ]
        trigger = self._trigger(key, service, pods)
        relabel = any(each.metadata.labels != labels for each in present)
        packing = pack(self._groups(service, pods), present, relabel)
        notes = {} if trigger is None else {slices.TRIGGER_TIME: time_text(trigger)}
        owner = owner_reference("v1", "Service", service.metadata)
        slices.write(self._client, packing, owner, key, labels, notes)
        return DONE

    def _trigger(self, key: Key, service: ServiceView, pods: Iterable[PodView]) -> float | None:
        """Return the earliest cause that is not older than the last visit, or None."""
        times = {"": seconds(service.metadata.creation_timestamp or None)}
        for pod in pods:
            ready = find_condition(pod.status.conditions, "Ready")
            times[pod.metadata.name] = seconds(ready.last_transition_time) if ready else None
        known = {name: time for name, time in times.items() if time is not None}
        before = self._triggers.get(key, {})
        self._triggers[key] = known
        causes = [time for name, time in known.items() if time > before.get(name, 0.0)]
        return min(causes, default=None)


class ServiceEndpoints(_Services):
    """Keeps the Endpoints objects of services, for who still reads them."""

    name = "endpoints-controller"

    def reconcile(self, key: Key) -> Result:
        """Bring one service's Endpoints in line."""
        service = self._sources.services.get(key)
        present = self._sources.endpoints.get(key)
        if service is None or service.metadata.deleting:
            ours = present is not None and _is_ours(present)
            if ours and present is not None:
                self._delete(key, present)
            return DONE
        if not service.selects:
            return DONE
        pods = [pod for pod in self._pods(service) if not pod.metadata.deleting]
        subsets, cut = subsets_of(self._groups(service, pods), _MOST_ADDRESSES)
        labels = _labels(service, {_ENDPOINTS_MANAGED_BY: _ENDPOINTS_MANAGER})
        notes = {_OVER: "truncated"} if cut else {}
        if present is None:
            self._create(key, subsets, labels, notes)
        elif (
            list(present.subsets) != subsets
            or present.metadata.labels != labels
            or present.metadata.annotations.get(_OVER) != notes.get(_OVER)
        ):
            stale = {name: None for name in present.metadata.labels if name not in labels}
            metadata: Tree = {
                "labels": {**stale, **labels},
                "annotations": {_OVER: notes.get(_OVER)},
            }
            patch: Tree = {"metadata": metadata, "subsets": subsets or None}
            self._client.patch(ENDPOINTS, key, patch)
        return DONE

    def _create(
        self, key: Key, subsets: list[Tree], labels: Mapping[str, str], notes: Mapping[str, str]
    ) -> None:
        metadata: Tree = {"name": key.name, "namespace": key.namespace, "labels": dict(labels)}
        if notes:
            metadata["annotations"] = dict(notes)
        tree: Tree = {"apiVersion": "v1", "kind": "Endpoints", "metadata": metadata}
        try:
            self._client.create(ENDPOINTS, {**tree, "subsets": subsets})
        except (AlreadyExists, Forbidden) as refusal:
            if isinstance(refusal, AlreadyExists) or not namespace_is_going(refusal):
                raise

    def _delete(self, key: Key, present: EndpointsView) -> None:
        try:
            self._client.delete(ENDPOINTS, key, uid=present.metadata.uid)
        except NotFound:
            return


def _is_ours(present: EndpointsView) -> bool:
    return present.metadata.labels.get(_ENDPOINTS_MANAGED_BY) == _ENDPOINTS_MANAGER


def _labels(service: ServiceView, own: Mapping[str, str]) -> dict[str, str]:
    """Return the service's labels with our own, and the mark of one without an address."""
    labels = {**service.metadata.labels, **own}
    if service.headless:
        labels[slices.HEADLESS] = ""
    else:
        labels.pop(slices.HEADLESS, None)
    return labels


def _selects(service: ServiceView, pod: PodView) -> bool:
    selector = service.spec.selector or {}
    return bool(selector) and selector.items() <= pod.metadata.labels.items()


def _looks(pod: PodView) -> object:
    """Return what of a pod can decide how it answers."""
    return (
        pod.metadata.labels,
        pod.metadata.deletion_timestamp,
        pod.spec.node_name,
        pod.status.phase,
        pod.status.pod_ip,
        pod.status.pod_ips,
        find_condition(pod.status.conditions, "Ready"),
    )

"""Endpoints that somebody wrote by hand for a service without selector: their slices.

Source: endpointslicemirroring controller of Kubernetes v1.36.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.client import Client
from windtunnel.controllers.endpoints import slices
from windtunnel.controllers.endpoints.addresses import family_of
from windtunnel.controllers.endpoints.packing import Group, Ports, pack
from windtunnel.controllers.endpoints.views import EndpointsView, ServiceView, SliceView
from windtunnel.controllers.ownership import owner_reference
from windtunnel.controllers.sources import Sources
from windtunnel.kernel import DONE, Result, WorkQueue
from windtunnel.machinery.tree import Key, Tree, encode

MANAGER: Final = "endpointslicemirroring-controller.k8s.io"
SKIP: Final = "endpointslice.kubernetes.io/skip-mirror"
_LEADER: Final = "control-plane.alpha.kubernetes.io/leader"
_NOT_COPIED: Final = frozenset(
    {"kubectl.kubernetes.io/last-applied-configuration", slices.TRIGGER_TIME}
)
_MOST: Final = 1000
"""Addresses of one subset that are mirrored."""


class MirroredSlices:
    """Keeps the slices that mirror Endpoints."""

    name = "endpointslice-mirroring-controller"

    def __init__(self, client: Client, sources: Sources) -> None:
        self._client, self._sources = client, sources

    def attach(self, queue: WorkQueue[Key]) -> None:
        """Queue Endpoints when they, their service or one of their slices changes."""

        def slice_changed(key: Key, before: SliceView | None, after: SliceView | None) -> None:
            view = before if after is None else None
            if view is not None and view.metadata.labels.get(slices.MANAGED_BY) == MANAGER:
                queue.add(Key(key.namespace, view.metadata.labels.get(slices.SERVICE_NAME, "")))

        def service_changed(
            key: Key, before: ServiceView | None, after: ServiceView | None
        ) -> None:
            if self._sources.endpoints.get(key) is not None:
                queue.add(key)

        self._sources.endpoints.on_change(lambda key, before, after: queue.add(key))
        self._sources.services.on_change(service_changed)
        self._sources.slices.on_change(slice_changed)

    def reconcile(self, key: Key) -> Result:
        """Bring the mirror of one Endpoints object in line."""
        present = [
            each
            for _, each in self._sources.slices.by("service", str(key))
            if each.metadata.labels.get(slices.MANAGED_BY) == MANAGER and not each.metadata.deleting
        ]
        endpoints = self._sources.endpoints.get(key)
        service = self._sources.services.get(key)
        owner: Tree = {}
        labels: dict[str, str] = {}
        notes: dict[str, str] = {}
        groups: list[Group] = []
        if endpoints is not None and service is not None and _is_mirrored(endpoints, service):
            owner = owner_reference("v1", "Endpoints", endpoints.metadata)
            labels = {
                **endpoints.metadata.labels,
                slices.SERVICE_NAME: key.name,
                slices.MANAGED_BY: MANAGER,
            }
            notes = {
                name: value
                for name, value in endpoints.metadata.annotations.items()
                if name not in _NOT_COPIED
            }
            groups = mirror(endpoints)
        elif not present:
            return DONE
        relabel = any(
            each.metadata.labels != labels or each.metadata.annotations != notes for each in present
        )
        packing = pack(groups, present, relabel)
        slices.write(self._client, packing, owner, key, labels, notes)
        return DONE


def mirror(endpoints: EndpointsView) -> list[Group]:
    """Return the endpoints that an Endpoints object amounts to."""
    found: dict[tuple[str, bytes], tuple[Ports, list[Tree]]] = {}
    for subset in endpoints.subsets:
        ports = tuple(_port(port) for port in subset.get("ports") or ())
        states = (("addresses", True), ("notReadyAddresses", False))
        listed = [(address, ready) for name, ready in states for address in subset.get(name) or ()]
        for address, ready in listed[:_MOST]:
            place = (family_of(address["ip"]), encode(ports))
            found.setdefault(place, (ports, []))[1].append(_endpoint(address, ready))
    return [Group(family, ports, listed) for (family, _), (ports, listed) in found.items()]


def _is_mirrored(endpoints: EndpointsView, service: ServiceView) -> bool:
    metadata = endpoints.metadata
    if metadata.deleting or metadata.labels.get(SKIP) == "true" or _LEADER in metadata.annotations:
        return False
    return not service.spec.selector and service.spec.type != "ExternalName"


def _endpoint(address: dict[str, Any], ready: bool) -> Tree:
    tree: Tree = {"addresses": [address["ip"]], "conditions": {"ready": ready}}
    for name in ("hostname", "nodeName", "targetRef"):
        if address.get(name):
            tree[name] = address[name]
    return tree


def _port(port: dict[str, Any]) -> Tree:
    tree: Tree = {
        "name": port.get("name") or "",
        "protocol": port.get("protocol") or "TCP",
        "port": port["port"],
    }
    if port.get("appProtocol"):
        tree["appProtocol"] = port["appProtocol"]
    return tree

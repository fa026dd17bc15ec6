"""Services, reached from this node: a small proxy in user space, one listener for each port.

Pods share the machine's network, where nobody has the address of a service. What the API shows as
10.96.x.y answers at 127.96.x.y, on the same port where that may be bound, else on any; variables
and hosts files of containers tell where.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from windtunnel.client import Change, Client
from windtunnel.kernel import Loop
from windtunnel.machinery.tree import Key, Tree, dig
from windtunnel.nodes.kubelet.carrying import CarriedPort, Carrier, bind
from windtunnel.nodes.kubelet.service_names import (
    Named,
    headless_names,
    host_lines,
    served_endpoints,
)

SERVICE_LABEL: Final = "kubernetes.io/service-name"
_API: Final = Key("default", "kubernetes")
_SHOWN: Final = "10.96."
"""What addresses of services begin with."""


class Spot(NamedTuple):
    """One port of one service."""

    key: Key
    port: int


class ServiceProxy:
    """Listens for the services of the cluster.

    Args:
        client: Where services and their endpoints are.
        loop: Whose steps follow them.
        api: Where the API server answers.
        at: The beginning of the addresses at which services are served.
        changed: Called when a name answers elsewhere than before.
        memory: The file that keeps ports over a restart: what containers were told of them is kept,
            too, in a kubelet's record of devices.
    """

    def __init__(
        self,
        client: Client,
        loop: Loop,
        api: tuple[str, int],
        *,
        at: str = "127.96.",
        changed: Callable[[], None] = lambda: None,
        memory: Path | None = None,
    ) -> None:
        self._client, self._loop, self._api = client, loop, api
        self._at, self._changed, self._memory = at, changed, memory
        self._ports = _recall(memory)
        self._listeners: dict[Spot, CarriedPort] = {}
        self._slices: dict[Key, Tree] = {}
        self._headless: set[Key] = set()
        self._names: dict[Key, tuple[Named, ...]] = {}
        self._stops: list[Callable[[], None]] = []
        self._carrier = Carrier()

    def start(self) -> None:
        """Follow services and their endpoints."""
        self._carrier.start()
        watch = self._client.watch
        self._stops.append(watch("endpointslices.discovery.k8s.io", self._slice_changed))
        self._stops.append(watch("services", self._service_changed))

    def stop(self) -> None:
        """Close every listener."""
        for stop in self._stops:
            stop()
        self._stops.clear()
        self._carrier.stop(self._listeners.values())
        self._listeners.clear()

    def reach(self, service: Tree, port: Tree) -> tuple[str, int]:
        """Return where a port of a service answers on this node."""
        metadata = service["metadata"]
        key = Key(metadata.get("namespace") or "", metadata["name"])
        if key == _API:
            return self._api
        listener = self._listeners.get(Spot(key, int(port["port"])))
        if listener is None:
            return str(dig(service, "spec", "clusterIP") or ""), int(port["port"])
        return listener.host, listener.port

    def host_lines(self, namespace: str) -> list[str]:
        """Return lines for hosts files in a namespace: where services answer; from any thread."""
        return host_lines((each for names in self._names.values() for each in names), namespace)

    def _service_changed(self, change: Change) -> None:
        if change.type == "SYNCED":
            return
        service = {} if change.type == "DELETED" else change.tree()
        self._headless.discard(change.key)
        if dig(service, "spec", "clusterIP") == "None":
            self._headless.add(change.key)
        wanted = self._wanted(change.key, service)
        for spot in [spot for spot in self._listeners if spot.key == change.key]:
            known = self._listeners[spot]
            if spot not in wanted or wanted[spot][0] != known.host:
                self._drop(spot)
        for spot, (host, name) in wanted.items():
            if spot not in self._listeners:
                self._listen(spot, host, name)
            else:
                self._listeners[spot].name = name
        self._find_endpoints(change.key)

    def _wanted(self, key: Key, service: Tree) -> dict[Spot, tuple[str, str]]:
        """Return the host and the port's name of each spot that a service is to have."""
        address = str(dig(service, "spec", "clusterIP") or "None")
        if key == _API or not address.startswith(_SHOWN):
            return {}
        host = self._at + address.removeprefix(_SHOWN)
        return {
            Spot(key, int(port["port"])): (host, str(port.get("name") or ""))
            for port in dig(service, "spec", "ports") or ()
            if (port.get("protocol") or "TCP") == "TCP"
        }

    def _slice_changed(self, change: Change) -> None:
        if change.type == "SYNCED":
            return
        before = self._slices.pop(change.key, None)
        tree = before or {}
        if change.type != "DELETED":
            tree = self._slices[change.key] = change.tree()
        name = dig(tree, "metadata", "labels", SERVICE_LABEL)
        if name:
            self._find_endpoints(Key(change.key.namespace, str(name)))

    def _find_endpoints(self, key: Key) -> None:
        """Note for each port of a service who answers for it now, and under which names."""
        slices = [
            each
            for place, each in self._slices.items()
            if place.namespace == key.namespace
            and dig(each, "metadata", "labels", SERVICE_LABEL) == key.name
        ]
        for spot, listener in self._listeners.items():
            if spot.key == key:
                listener.backends = backends(slices, listener.name)
        if key in self._headless:
            names = headless_names(key, slices)
        else:
            hosts = {spot.key: each.host for spot, each in self._listeners.items()}
            names = (Named(key.namespace, key.name, hosts[key]),) if key in hosts else ()
        if names != self._names.get(key, ()):
            self._names = {**self._names, key: names}  # made anew: another thread may read it
            self._changed()

    def _listen(self, spot: Spot, host: str, name: str) -> None:
        place = f"{host}:{spot.port}"
        try:
            bound = bind(host, (self._ports.get(place, spot.port), spot.port, 0))
        except OSError as error:
            self._loop.report("service proxy", spot.key, error)
            return
        port: int = bound.getsockname()[1]
        if self._ports.get(place) != port:
            self._ports[place] = port
            self._remember()
        listener = self._listeners[spot] = CarriedPort(host, port, bound, name)
        self._carrier.open(listener)

    def _remember(self) -> None:
        if self._memory is not None:
            try:
                self._memory.write_text(json.dumps(self._ports))
            except OSError as error:
                self._loop.report("service proxy", str(self._memory), error)

    def _drop(self, spot: Spot) -> None:
        self._carrier.close(self._listeners.pop(spot))


def backends(slices: list[Tree], name: str) -> list[tuple[str, int]]:
    """Return where the ready endpoints of a port answer, by the port's name."""
    found = []
    for each in slices:
        for port in each.get("ports") or ():
            if (port.get("name") or "") != name or port.get("port") is None:
                continue
            found += [(host, int(port["port"])) for _, host in served_endpoints(each)]
    return found


def _recall(memory: Path | None) -> dict[str, int]:
    """Return the ports of an earlier start; what cannot be read is forgotten."""
    if memory is None:
        return {}
    try:
        return {str(place): int(port) for place, port in json.loads(memory.read_text()).items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}

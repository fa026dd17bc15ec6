"""Services, reached from this node: a small proxy in user space, one listener for each port.

Pods share the machine's network, where nobody has the address of a service. What the API shows as
10.96.x.y answers at 127.96.x.y, on the same port where that may be bound, else on any; variables
and hosts files of containers tell where. Bytes are moved on a thread of its own, the loop never
waits. Only TCP is carried.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from windtunnel.client import Change, Client
from windtunnel.kernel import Loop
from windtunnel.machinery.tree import Key, Tree, dig
from windtunnel.nodes.kubelet.network import served_at

SERVICE_LABEL: Final = "kubernetes.io/service-name"
_API: Final = Key("default", "kubernetes")
_SHOWN: Final = "10.96."
"""What addresses of services begin with."""
_PIECE: Final = 64 * 1024
_CONNECT_SECONDS: Final = 10.0
_STOP_SECONDS: Final = 5.0


class Spot(NamedTuple):
    """One port of one service."""

    key: Key
    port: int


@dataclass(slots=True)
class _Listener:
    """Where a service's port answers, and who stands behind it."""

    host: str
    port: int
    socket: socket.socket
    name: str
    backends: list[tuple[str, int]] = field(default_factory=list)
    turn: Iterator[int] = field(default_factory=itertools.count)
    server: asyncio.Server | None = None


class ServiceProxy:
    """Listens for the services of the cluster.

    Args:
        client: Where services and their endpoints are.
        loop: Whose steps follow them.
        api: Where the API server answers.
        at: The beginning of the addresses at which services are served.
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
        memory: Path | None = None,
    ) -> None:
        self._client, self._loop, self._api = client, loop, api
        self._at, self._memory = at, memory
        self._ports = _recall(memory)
        self._listeners: dict[Spot, _Listener] = {}
        self._slices: dict[Key, Tree] = {}
        self._stops: list[Callable[[], None]] = []
        self._events: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Follow services and their endpoints."""
        self._events = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._events.run_forever, name="service-proxy", daemon=True
        )
        self._thread.start()
        watch = self._client.watch
        self._stops.append(watch("endpointslices.discovery.k8s.io", self._slice_changed))
        self._stops.append(watch("services", self._service_changed))

    def stop(self) -> None:
        """Close every listener."""
        for stop in self._stops:
            stop()
        self._stops.clear()
        events, thread = self._events, self._thread
        self._events = self._thread = None
        if events is None or thread is None:
            return
        for listener in self._listeners.values():
            events.call_soon_threadsafe(_close, listener)
        self._listeners.clear()
        events.call_soon_threadsafe(events.stop)
        thread.join(_STOP_SECONDS)
        if not thread.is_alive():
            _finish(events)

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

    def host_lines(self) -> list[str]:
        """Return lines for hosts files: the names of services, where they answer."""
        names = {}
        for spot, listener in sorted(self._listeners.items()):
            name = f"{spot.key.name}.{spot.key.namespace}"
            names[name] = f"{listener.host}\t{name} {name}.svc {name}.svc.cluster.local"
        return list(names.values())

    def _service_changed(self, change: Change) -> None:
        if change.type == "SYNCED":
            return
        service = {} if change.type == "DELETED" else change.tree()
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
        self._find_backends(change.key)

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
            self._find_backends(Key(change.key.namespace, str(name)))

    def _find_backends(self, key: Key) -> None:
        """Note for each port of a service who answers for it now."""
        slices = [
            each
            for place, each in self._slices.items()
            if place.namespace == key.namespace
            and dig(each, "metadata", "labels", SERVICE_LABEL) == key.name
        ]
        for spot, listener in self._listeners.items():
            if spot.key == key:
                listener.backends = backends(slices, listener.name)

    def _listen(self, spot: Spot, host: str, name: str) -> None:
        place = f"{host}:{spot.port}"
        try:
            bound = _bind(host, (self._ports.get(place, spot.port), spot.port, 0))
        except OSError as error:
            self._loop.report("service proxy", spot.key, error)
            return
        port: int = bound.getsockname()[1]
        if self._ports.get(place) != port:
            self._ports[place] = port
            self._remember()
        listener = self._listeners[spot] = _Listener(host, port, bound, name)
        events = self._events
        if events is not None:
            asyncio.run_coroutine_threadsafe(_serve(listener), events)

    def _remember(self) -> None:
        if self._memory is not None:
            try:
                self._memory.write_text(json.dumps(self._ports))
            except OSError as error:
                self._loop.report("service proxy", str(self._memory), error)

    def _drop(self, spot: Spot) -> None:
        listener = self._listeners.pop(spot)
        if self._events is not None:
            self._events.call_soon_threadsafe(_close, listener)


def backends(slices: list[Tree], name: str) -> list[tuple[str, int]]:
    """Return where the ready endpoints of a port answer, by the port's name."""
    found = []
    for each in slices:
        for port in each.get("ports") or ():
            if (port.get("name") or "") != name or port.get("port") is None:
                continue
            for endpoint in each.get("endpoints") or ():
                if dig(endpoint, "conditions", "ready") is False:
                    continue
                for address in endpoint.get("addresses") or ():
                    found.append((served_at(str(address)), int(port["port"])))
    return found


def _recall(memory: Path | None) -> dict[str, int]:
    """Return the ports of an earlier start; what cannot be read is forgotten."""
    if memory is None:
        return {}
    try:
        return {str(place): int(port) for place, port in json.loads(memory.read_text()).items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def _bind(host: str, ports: Iterable[int]) -> socket.socket:
    """Bind the first of the ports that can be had; 0 is any."""
    for number in ports:
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((host, number))
            made.listen(128)
        except OSError:
            made.close()
            if not number:
                raise
        else:
            made.setblocking(False)
            return made
    raise AssertionError("either bound or raised")


async def _serve(listener: _Listener) -> None:
    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _carry(listener, reader, writer)
        finally:
            writer.close()

    with suppress(OSError):
        listener.server = await asyncio.start_server(accept, sock=listener.socket, limit=_PIECE)


async def _carry(
    listener: _Listener, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Carry one connection to a backend, to the next where one does not answer."""
    candidates = list(listener.backends)
    first = next(listener.turn)
    for number in range(len(candidates)):
        host, port = candidates[(first + number) % len(candidates)]
        try:
            there, back = await asyncio.wait_for(
                asyncio.open_connection(host, port, limit=_PIECE), _CONNECT_SECONDS
            )
        except OSError:
            continue
        try:
            await asyncio.gather(_copy(reader, back), _copy(there, writer))
        finally:
            back.close()
        return


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await source.read(_PIECE):
            sink.write(piece)
            await sink.drain()
        if sink.can_write_eof():
            sink.write_eof()


def _close(listener: _Listener) -> None:
    if listener.server is not None:
        listener.server.close()
    else:
        listener.socket.close()


def _finish(events: asyncio.AbstractEventLoop) -> None:
    """End what is still carried, then the event loop."""
    tasks = asyncio.all_tasks(events)
    for task in tasks:
        task.cancel()
    if tasks:
        events.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    events.run_until_complete(events.shutdown_asyncgens())
    events.close()

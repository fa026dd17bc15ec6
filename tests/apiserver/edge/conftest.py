"""A listening server around any function from request to outcome, and a plain client for it."""

from __future__ import annotations

import asyncio
import http.client
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest
import uvloop

from windtunnel.apiserver.edge import Certificates, Server
from windtunnel.apiserver.edge.app import Handle
from windtunnel.kernel import VirtualClock
from windtunnel.store import Store
from windtunnel.store.memory import MemoryBackend

T = TypeVar("T")


@dataclass
class Got:
    """What a client got."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass
class Served:
    """A server on a thread of its own."""

    store: Store
    loop: asyncio.AbstractEventLoop
    server: Server
    port: int
    thread: threading.Thread
    crashes: list[Exception]
    trust: ssl.SSLContext | None = None
    connections: list[http.client.HTTPConnection] = field(default_factory=list)

    def connect(self) -> http.client.HTTPConnection:
        """Open a connection that is closed with the server."""
        if self.trust is None:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        else:
            connection = http.client.HTTPSConnection(
                "127.0.0.1", self.port, timeout=10, context=self.trust
            )
        self.connections.append(connection)
        return connection

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> Got:
        """Send one request and read the whole answer."""
        connection = self.connect()
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        named = {name.lower(): value for name, value in response.getheaders()}
        return Got(response.status, named, response.read())

    def watch(self, path: str = "/watch") -> http.client.HTTPResponse:
        """Open a stream; its lines are read from what is returned."""
        connection = self.connect()
        connection.request("GET", path)
        return connection.getresponse()

    def on_its_thread(self, call: Callable[[], T]) -> T:
        """Call on the thread that owns the store."""

        async def run() -> T:
            return call()

        return asyncio.run_coroutine_threadsafe(run(), self.loop).result(10)

    def stop(self) -> None:
        """Stop the server and wait for it; harmless when stopped."""
        if self.thread.is_alive():
            asyncio.run_coroutine_threadsafe(self.server.stop(), self.loop).result(10)
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.thread.join(10)
            self.loop.close()
        for connection in self.connections:
            connection.close()


Serve = Callable[..., Served]


@pytest.fixture
def serve() -> Iterator[Serve]:
    running: list[Served] = []

    def start(
        handle: Handle,
        store: Store | None = None,
        certificates: Certificates | None = None,
        trust: ssl.SSLContext | None = None,
    ) -> Served:
        loop = uvloop.new_event_loop()
        own = store or Store(MemoryBackend(), VirtualClock(1_767_225_600.0))
        crashes: list[Exception] = []
        thread = threading.Thread(target=loop.run_forever)
        thread.start()

        async def open_server() -> tuple[Server, int]:
            listener = socket.socket()
            listener.bind(("127.0.0.1", 0))
            clock = VirtualClock(1_767_225_600.0)
            server = Server(handle, own, clock, crashed=crashes.append)
            _, port = await server.start(listener, certificates)
            return server, port

        opening: Any = asyncio.run_coroutine_threadsafe(open_server(), loop)
        server, port = opening.result(10)
        running.append(Served(own, loop, server, port, thread, crashes, trust))
        return running[-1]

    yield start
    for served in running:
        served.stop()
        if served.store.failure is None:
            served.store.close()


@pytest.fixture
def unused_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that accepts connections and never answers."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]

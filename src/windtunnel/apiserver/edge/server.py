"""The listening server: TLS, connections, and a shutdown that leaves no stream hanging.

uvicorn's protocol does the HTTP; its own server is not used, because that wakes ten times a second
to look whether it should stop, and an idle cluster is to cost nothing.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from uvicorn.config import Config
from uvicorn.server import ServerState

from windtunnel.apiserver.edge.app import App, Handle
from windtunnel.apiserver.edge.asks import Asks
from windtunnel.apiserver.edge.gate import Gate
from windtunnel.apiserver.edge.protocol import CertificateProtocol
from windtunnel.kernel import Clock
from windtunnel.store import Store

_KEEP_ALIVE_SECONDS: Final = 180
"""Longer than Go clients keep an idle connection (90 s), so that they are the ones to close it."""


@dataclass(frozen=True, slots=True)
class Certificates:
    """Files of the server's identity and of the authority that signs clients' certificates.

    ``kubelet_client`` is a certificate and its key: who the server is when it calls a kubelet.
    """

    certificate: Path
    key: Path
    client_authority: Path | None = None
    kubelet_client: tuple[Path, Path] | None = None


class Server:
    """Serves one core on one address."""

    def __init__(
        self,
        handle: Handle,
        store: Store,
        clock: Clock,
        *,
        crashed: Callable[[Exception], None],
        asks: Asks | None = None,
    ) -> None:
        """Wire the server; must be called on the running event loop.

        Args:
            handle: ``Core.handle``.
            store: Whose durable mark gates everything that is sent.
            clock: Dates the answers.
            crashed: Told of bugs: BrokenInvariant means that the cluster must stop.
            asks: Makes calls to the outside; made here if none is given.
        """
        self._loop = asyncio.get_running_loop()
        self.asks = asks or Asks()
        gate = Gate(store, self._loop)
        self.app = App(handle, store, clock, gate, self.asks, crashed)
        self._state = ServerState()
        self._listening: asyncio.Server | None = None

    async def start(
        self, listener: socket.socket, certificates: Certificates | None = None
    ) -> tuple[str, int]:
        """Begin to accept connections on a bound socket; return its address and port."""
        if certificates is not None and certificates.kubelet_client is not None:
            self.app.relays.present(*certificates.kubelet_client)
        self._listening = await self._loop.create_server(
            partial(CertificateProtocol, configured(self.app), self._state, {}),
            sock=listener,
            ssl=_tls(certificates) if certificates else None,
            backlog=2048,
        )
        address, port = listener.getsockname()[:2]
        return address, port

    async def stop(self, grace_seconds: float = 2.0) -> None:
        """Accept nothing more, end streams, let answers out that are under way, close the rest."""
        if self._listening is not None:
            self._listening.close()
        self.app.end_streams()
        for connection in list(self._state.connections):
            connection.shutdown()
        if self._state.tasks:
            await asyncio.wait(set(self._state.tasks), timeout=grace_seconds)
        for task in list(self._state.tasks):
            task.cancel()
        for connection in list(self._state.connections):
            connection.transport.abort()
        self.asks.close()


def configured(app: App) -> Config:
    """Return what uvicorn's protocol wants to know: plain HTTP, no log, no headers of its own."""
    config = Config(
        app,
        http=CertificateProtocol,
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
    )
    config.load()
    return config


def _tls(certificates: Certificates) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificates.certificate, certificates.key)
    if certificates.client_authority is not None:
        context.load_verify_locations(certificates.client_authority)
        # Asked for, not demanded: most clients come with a token.
        context.verify_mode = ssl.CERT_OPTIONAL
    context.set_alpn_protocols(["http/1.1"])
    return context

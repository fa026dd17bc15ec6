"""Bytes to an API server and back: one persistent connection, TLS, and what went wrong in words.

A connection that the server has closed meanwhile is noticed before a request is sent, so that no
write is ever sent twice.
"""

from __future__ import annotations

import http.client
import os
import select
import ssl
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from windtunnel.client.connection import Connection
from windtunnel.client.proven import ProvenConnection
from windtunnel.errors import ClusterError


class Transport:
    """Carries requests to one server, one at a time.

    Args:
        connection: Where the server is, and how it and we prove who we are.
        timeout_seconds: Longest wait for any one answer.

    Raises:
        ClusterError: a certificate or key cannot be used.
    """

    def __init__(self, connection: Connection, timeout_seconds: float) -> None:
        self._server, self._timeout = connection.server, timeout_seconds
        place = urlsplit(connection.server)
        self._host, self._port = place.hostname or "", place.port
        self._name = connection.tls_server_name or self._host
        self.root = place.path.rstrip("/")
        """What goes before every path: a server may be behind another that serves many."""
        self._tls = _tls_context(connection)
        self._wire: http.client.HTTPConnection | None = None

    def carry(
        self, method: str, target: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        """Send one request, below the root, and return the answer's status and body.

        Raises:
            ClusterError: the server cannot be reached.
        """
        try:
            wire = self._live()
            wire.request(method, self.root + target, body, headers)
            answer = wire.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise ClusterError(f"cannot reach {self._server}: {_why(error)}") from error

    def dial(self, timeout_seconds: float) -> http.client.HTTPConnection:
        """Return a connection of its own; the first request opens it."""
        if self._tls is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=timeout_seconds)
        return ProvenConnection(self._host, self._port, timeout_seconds, self._tls, self._name)

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None

    def _live(self) -> http.client.HTTPConnection:
        # A socket that can be read between two requests has been closed by the other side.
        socket = self._wire and self._wire.sock
        if socket and select.select([socket], [], [], 0)[0]:
            self.close()
        if self._wire is None:
            self._wire = self.dial(self._timeout)
        return self._wire


def _tls_context(connection: Connection) -> ssl.SSLContext | None:
    """Return the TLS context of a connection; None for plain HTTP."""
    if not connection.server.startswith("https:"):
        return None
    try:
        context = ssl.create_default_context(cadata=connection.ca.decode() or None)
        if connection.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if connection.certificate:
            _load_chain(context, connection)
    except (ssl.SSLError, ValueError) as error:
        raise ClusterError(
            f"cannot use the credentials for {connection.server}: {error}"
        ) from error
    return context


def _load_chain(context: ssl.SSLContext, connection: Connection) -> None:
    # The ssl module takes a certificate only from a file.
    handle, name = tempfile.mkstemp(prefix="windtunnel-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(connection.certificate + b"\n" + connection.key)
        context.load_cert_chain(name)
    finally:
        Path(name).unlink()


def _why(error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return text[:1].lower() + text[1:]

"""The topology server: documents of GPUs over plain HTTP, read from the API for each request.

It runs on threads of its own, so that a client that hangs stops nobody; they share one client of
the API server and take turns. There is no authentication: what it shows is fiction.
"""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from windtunnel.client import Client
from windtunnel.errors import ClusterError, WindtunnelError
from windtunnel.gpu.topology_server.answers import TopologyReply, answer
from windtunnel.gpu.topology_server.settings import Settings
from windtunnel.machinery.errors import ApiError
from windtunnel.machinery.tree import Key, Tree

_POLL_SECONDS: Final = 0.05
_PATIENCE_SECONDS: Final = 30.0
"""How long a client may take over one request."""
_LONGEST_BODY: Final = 1 << 20


class TopologyServer:
    """Serves from ``start`` to ``stop``; ``client`` is used by its threads alone."""

    def __init__(self, client: Client, settings: Settings | None = None) -> None:
        self._client, self._settings = client, settings or Settings()
        self._turn = threading.Lock()
        self._server: ThreadingHTTPServer | None = None

    @property
    def port(self) -> int:
        """The port it listens on; 0 while it does not."""
        return 0 if self._server is None else int(self._server.server_address[1])

    def start(self) -> None:
        """Listen.

        Raises:
            WindtunnelError: the port cannot be had.
        """
        host, port = self._settings.host, self._settings.port
        try:
            server = _HttpServer((host, port), _requests_of(self))
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise WindtunnelError(f"cannot listen on {host or '*'}:{port}: {why}") from error
        self._server = server
        threading.Thread(
            target=server.serve_forever, args=(_POLL_SECONDS,), name="topology", daemon=True
        ).start()

    def stop(self) -> None:
        """Listen no longer."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def reply(self, path: str) -> TopologyReply:
        """Answer one request."""
        try:
            with self._turn:
                return answer(path, self._settings.topology_name, self._read)
        except ApiError as error:
            return TopologyReply(500, error.message.encode())
        except ClusterError as error:
            return TopologyReply(500, str(error).encode())

    def _read(self, name: str) -> Tree | None:
        return self._client.get("configmaps", Key(self._settings.topology_namespace, name))


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def _requests_of(topology: TopologyServer) -> type[BaseHTTPRequestHandler]:
    """Return the class that the standard library makes one of for each connection."""

    class Requests(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = _PATIENCE_SECONDS
        server_version = "windtunnel"

        def answer(self) -> None:
            length = self.headers.get("Content-Length", "0")
            waiting = int(length) if length.isdecimal() else 0
            if waiting > _LONGEST_BODY:
                self.close_connection = True  # rather than read what nobody wants
            elif waiting:
                self.rfile.read(waiting)
            reply = topology.reply(self.path.partition("?")[0])
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(reply.body)))
            if reply.location:
                self.send_header("Location", reply.location)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(reply.body)

        def log_message(self, *_: object) -> None:
            """Say nothing of single requests."""

        def __getattr__(self, name: str) -> object:
            # The library looks for ``do_<method>``; any method is answered alike.
            if name.startswith("do_"):
                return self.answer
            raise AttributeError(name)

    return Requests

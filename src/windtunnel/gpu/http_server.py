"""HTTP for agents, on threads of its own: no scrape waits for a step, and no step for a client.

There is no authentication: what agents show is fiction. Any method is answered alike.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from windtunnel.errors import WindtunnelError

PLAIN: Final = "text/plain; charset=utf-8"
_POLL_SECONDS: Final = 0.1
_PATIENCE_SECONDS: Final = 60.0
"""How long a client may take over one request, or leave its connection unused."""
_LONGEST_BODY: Final = 1 << 20


class NoPort(WindtunnelError):
    """Nothing can be served; the sentence says why."""


@dataclass(frozen=True, slots=True)
class HttpReply:
    """One answer."""

    status: int
    body: bytes
    content_type: str = "application/json"
    location: str = ""


class HttpServer:
    """Answers each path with what ``reply`` returns, which is called on any thread.

    Args:
        host: The address to listen at; "" for all.
        port: The port; 0 for any that is free.
        reply: Answers a path, without its query.
    """

    def __init__(self, host: str, port: int, reply: Callable[[str], HttpReply]) -> None:
        self._host, self._port, self._reply = host, port, reply
        self._server: ThreadingHTTPServer | None = None

    @property
    def port(self) -> int:
        """Where it listens; 0 while it does not."""
        return 0 if self._server is None else int(self._server.server_address[1])

    def start(self) -> None:
        """Listen.

        Raises:
            NoPort: somebody else does, or we may not.
        """
        try:
            server = _Listener((self._host, self._port), _requests_to(self._reply))
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise NoPort(f"cannot listen at {self._host or '*'}:{self._port}: {why}") from error
        self._server = server
        threading.Thread(
            target=server.serve_forever, args=(_POLL_SECONDS,), name="http", daemon=True
        ).start()

    def stop(self) -> None:
        """Listen no more."""
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def _requests_to(reply_to: Callable[[str], HttpReply]) -> type[BaseHTTPRequestHandler]:
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
            reply = reply_to(self.path.partition("?")[0])
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(reply.body)))
            if reply.location:
                self.send_header("Location", reply.location)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(reply.body)

        def log_message(self, *_: object) -> None:
            """Say nothing of single requests: a scrape every few seconds is no news."""

        def __getattr__(self, name: str) -> object:
            # The library looks for ``do_<method>``; any method is answered alike.
            if name.startswith("do_"):
                return self.answer
            raise AttributeError(name)

    return Requests

"""Serves metrics over HTTP, on threads of its own: a scrape waits for no step.

What is served is text that somebody else has put together; here it is only joined.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from windtunnel.errors import WindtunnelError

_TEXT: Final = "text/plain; version=0.0.4; charset=utf-8"


class NoPort(WindtunnelError):
    """Metrics cannot be served; the sentence says why."""


class MetricsServer:
    """Answers ``/metrics`` with what ``text`` returns, and ``/healthz``."""

    def __init__(self, host: str, port: int, text: Callable[[], str]) -> None:
        self._place, self._text = (host, port), text
        self._server: ThreadingHTTPServer | None = None

    @property
    def port(self) -> int:
        """Where it listens; 0 before it does."""
        return self._server.server_address[1] if self._server else 0

    def start(self) -> None:
        """Listen.

        Raises:
            NoPort: somebody else does, or we may not.
        """
        text = self._text

        class Answer(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 60

            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                if path == "/metrics":
                    self._send(200, _TEXT, text())
                elif path in ("/health", "/healthz", "/readyz"):
                    self._send(200, "text/plain; charset=utf-8", "OK")
                else:
                    self._send(404, "text/plain; charset=utf-8", "404 page not found\n")

            def _send(self, status: int, content_type: str, body: str) -> None:
                encoded = body.encode()
                self.send_response(status)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(encoded)))
                self.end_headers()
                self.wfile.write(encoded)

            def log_message(self, *_: object) -> None:
                """Keep quiet: a scrape every few seconds is no news."""

        host, port = self._place
        try:
            self._server = ThreadingHTTPServer((host, port), Answer)
        except OSError as error:
            place = f"{host or '0.0.0.0'}:{port}"
            raise NoPort(f"cannot listen at {place}: {error.strerror}") from error
        self._server.daemon_threads = True
        threading.Thread(
            target=self._server.serve_forever, args=(0.1,), name="metrics", daemon=True
        ).start()

    def stop(self) -> None:
        """Listen no more."""
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()

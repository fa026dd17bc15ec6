"""TLS to a server that must prove a name of its own, whatever address it is reached at.

Clusters are reached through tunnels and behind others; a webhook of a Service is called at an
address, but proves to be ``name.namespace.svc``. The standard library knows only the one name.
"""

from __future__ import annotations

import http.client
import ssl


class ProvenConnection(http.client.HTTPSConnection):
    """A connection whose other side must bear ``name``."""

    def __init__(
        self, host: str, port: int | None, timeout_seconds: float, trust: ssl.SSLContext, name: str
    ) -> None:
        super().__init__(host, port, timeout=timeout_seconds, context=trust)
        self._trust, self._name = trust, name

    def connect(self) -> None:
        """Connect, and see who is there."""
        http.client.HTTPConnection.connect(self)
        self.sock = self._trust.wrap_socket(self.sock, server_hostname=self._name)

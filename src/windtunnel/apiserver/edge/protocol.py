"""uvicorn's HTTP protocol, taught to say who the client's certificate names.

ASGI has no place for client certificates. The TLS object is known when a connection is made, so
the names in its verified certificate are put into the state that every request's scope carries.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

CERTIFICATE = "certificate"
"""Where ``scope["state"]`` has (common name, organisations), or None."""

_BUFFERED = 64 * 1024
"""Bytes that may wait in a connection before its sender has to."""


class CertificateProtocol(HttpToolsProtocol):
    """HTTP/1.1 on one connection, with the client's certificate in the scope."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Read the certificate once; all requests of the connection share it."""
        super().connection_made(transport)
        # TLS would buffer half a megabyte for every reader that stands still.
        transport.set_write_buffer_limits(_BUFFERED)
        self.app_state = {CERTIFICATE: names_of(transport.get_extra_info("ssl_object"))}


def names_of(tls: ssl.SSLObject | None) -> tuple[str, tuple[str, ...]] | None:
    """Return common name and organisations of the verified certificate, or None without one."""
    certificate = tls.getpeercert() if tls is not None else None
    if not certificate:
        return None
    subject: Any = certificate.get("subject", ())
    pairs = [pair for relative_name in subject for pair in relative_name]
    common_names = [value for name, value in pairs if name == "commonName"]
    organisations = tuple(value for name, value in pairs if name == "organizationName")
    return (common_names[-1], organisations) if common_names else None

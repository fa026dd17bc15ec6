"""uvicorn's HTTP protocol, taught two things: whose certificate a client shows, and to write once.

ASGI has no place for client certificates. The TLS object is known when a connection is made, so
the names in its verified certificate are put into the state that every request's scope carries.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

CERTIFICATE = "certificate"
"""Where ``scope["state"]`` has (common name, organisations), or None."""


_HEAD: Final = b"HTTP/1.1 "
_JOINED_BYTES: Final = 64 * 1024
"""Up to here copying a body costs less than a TLS record and a system call of its own."""


class OneWrite:
    """A transport that lets the head of an answer wait for its body, a turn of the loop at most.

    uvicorn writes them one after the other; over TLS a write costs 40 µs, half of the whole edge.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._head: bytes | None = None
        self.is_closing = transport.is_closing

    def write(self, data: bytes | memoryview) -> None:
        """Write, or keep the head of an answer until more comes."""
        head, self._head = self._head, None
        if head is None:
            if data[: len(_HEAD)] == _HEAD:
                self._head = bytes(data)
                self._loop.call_soon(self._let_go)
            else:
                self._transport.write(data)
        elif len(data) <= _JOINED_BYTES:
            self._transport.write(b"".join((head, data)))
        else:
            self._transport.write(head)
            self._transport.write(data)

    def close(self) -> None:
        """Close once all is written."""
        self._let_go()
        self._transport.close()

    def _let_go(self) -> None:
        head, self._head = self._head, None
        if head is not None:
            self._transport.write(head)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class CertificateProtocol(HttpToolsProtocol):
    """HTTP/1.1 on one connection, with the client's certificate in the scope."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Read the certificate once; all requests of the connection share it."""
        super().connection_made(OneWrite(transport, self.loop))  # type: ignore[arg-type]
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

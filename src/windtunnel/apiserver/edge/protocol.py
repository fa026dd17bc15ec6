"""uvicorn's HTTP protocol, taught whom a certificate names, to give way, and any method.

ASGI has no place for client certificates, nor for connections that become something else. So what
is known when a connection is made is put into the state that every request's scope carries: the
names in its verified certificate, and how the connection is taken over after an upgrade.

HTTP allows any method, the parser only those of a list. A request of another one is read once more
under a method of the list, and goes on under its own.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from typing import Any, Final

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from windtunnel.apiserver.edge.dialing import BUFFERED

CERTIFICATE = "certificate"
"""Where ``scope["state"]`` has (common name, organisations), or None."""

TAKE_OVER = "take-over"
"""Where ``scope["state"]`` has the call that takes the connection away from HTTP."""

_EARLY_BYTES: Final = 1024 * 1024
"""What a client may send after an upgrade that is still being decided on."""

_METHOD: Final = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?= )")
_STAND_IN: Final = b"SEARCH"
"""A method that the parser knows, with or without a body."""

_INVALID: Final = "Invalid HTTP request received."


class CertificateProtocol(HttpToolsProtocol):
    """HTTP/1.1 on one connection, with the client's certificate in the scope."""

    _early: bytes | None = None
    """What came after a request to upgrade; None: there is no such request under way."""
    _whole: bool = True
    """Whether everything that has begun has come whole."""
    _begun: int = 0
    """How many requests began in what came last."""
    _method: str = ""
    """What the parser takes for another method."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Read the certificate once; all requests of the connection share it."""
        super().connection_made(transport)
        # TLS would buffer half a megabyte for every reader that stands still.
        transport.set_write_buffer_limits(BUFFERED)
        self.app_state = {
            CERTIFICATE: names_of(transport.get_extra_info("ssl_object")),
            TAKE_OVER: self.take_over,
        }

    def data_received(self, data: bytes) -> None:
        """Read requests; keep what follows one that asks for an upgrade."""
        if self._early is not None:
            self._early += data
            if len(self._early) > _EARLY_BYTES:
                self.transport.abort()
            return
        self._unset_keepalive_if_required()
        was_whole, self._begun = self._whole, 0
        try:
            self._read(data)
        except httptools.HttpParserInvalidMethodError:
            method = _METHOD.match(data)
            # Read again is only what comes first: for what came before something may be done.
            if method and was_whole and self._begun == 1:
                self._read_as(method[0], data[method.end() :])
            else:
                self.send_400_response(_INVALID)
        except httptools.HttpParserError:
            self.send_400_response(_INVALID)

    def _read(self, data: bytes) -> None:
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._early = data[upgrade.args[0] :]

    def _read_as(self, method: bytes, rest: bytes) -> None:
        """Read a request whose method the parser has refused, with which it was done for."""
        self._method = method.decode()
        self.parser = httptools.HttpRequestParser(self)
        try:
            self._read(_STAND_IN + rest)
        except httptools.HttpParserError:
            self.send_400_response(_INVALID)

    def on_message_begin(self) -> None:
        """Count the requests that came at once."""
        super().on_message_begin()
        self._whole = False
        self._begun += 1

    def on_headers_complete(self) -> None:
        """Give the request the method that it came with."""
        super().on_headers_complete()
        if self._method:
            self.scope["method"], self._method = self._method, ""

    def on_message_complete(self) -> None:
        """Take note that the request has come whole."""
        super().on_message_complete()
        self._whole = True

    def on_response_complete(self) -> None:
        """Go on with what came meanwhile: the upgrade was answered, not done."""
        super().on_response_complete()
        early, self._early = self._early, None
        if early and not self.transport.is_closing():
            self.loop.call_soon(self.data_received, early)

    def take_over(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Give the connection away: from here on it speaks what the client has asked for."""
        # Whoever answers the request no more has not forgotten it.
        self.cycle.disconnected = True
        self._unset_keepalive_if_required()
        self.connections.discard(self)
        reader = asyncio.StreamReader(limit=BUFFERED, loop=self.loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=self.loop)
        self.transport.set_protocol(protocol)
        protocol.connection_made(self.transport)
        self.flow.resume_reading()
        if self._early:
            reader.feed_data(self._early)
        if self.transport.is_closing():
            reader.feed_eof()
        return reader, asyncio.StreamWriter(self.transport, protocol, reader, self.loop)


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

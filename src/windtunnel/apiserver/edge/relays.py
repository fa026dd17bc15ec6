"""Passing requests on to nodes and pods, and what they answer back as it comes.

An answer is streamed. An upgrade joins the client's connection to the other one: bytes are moved
in both directions, each no faster than its reader, and nobody here looks into them; so whatever a
client and a kubelet agree on (WebSocket or SPDY) works. A kubelet's certificate is not checked, as
the real server does not unless told to; the kubelet checks ours.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import httptools

from windtunnel.apiserver.edge.answers import Common, Send
from windtunnel.apiserver.edge.dialing import BUFFERED, dial, in_words
from windtunnel.apiserver.request import Relay, Request
from windtunnel.client import farewell

Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Take = Callable[[], Ends]
"""Takes the client's connection away from HTTP."""

_OURS: Final = frozenset({b"authorization", b"host", b"connection", b"upgrade", b"content-length"})
_HOP: Final = frozenset({"connection", "keep-alive", "transfer-encoding", "trailer", "upgrade"})
_IMPERSONATION: Final = b"impersonate-"
_REFUSAL_BYTES: Final = 50_000
_FAREWELL_SECONDS: Final = 2.0
"""How long the other end of a connection has to say that it closes it, too."""


class Relays:
    """Performs relays; one for all requests of a server."""

    def __init__(self, common: Common) -> None:
        self._common = common
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._tls.check_hostname = False
        self._tls.verify_mode = ssl.CERT_NONE
        self._open: set[asyncio.StreamWriter] = set()

    def present(self, certificate: Path, key: Path) -> None:
        """Be known to kubelets by this certificate."""
        self._tls.load_cert_chain(certificate, key)

    def end(self) -> None:
        """End all relays; each has ended when its request has."""
        for writer in self._open:
            writer.transport.abort()

    async def run(
        self, relay: Relay, request: Request, scope: Any, take: Take, receive: Any, send: Send
    ) -> None:
        """Pass the request on until both sides have had enough.

        Raises:
            ApiError: Nobody is there, or the answer is a refusal; nothing has been sent then.
        """
        try:
            far = await dial(relay.destination, self._tls)
        except (OSError, TimeoutError) as error:
            raise relay.unreachable(
                in_words(error, relay.destination.host, relay.destination.port)
            ) from error
        async with self._closing(far[1]):
            far[1].write(_head(relay, request, scope["headers"]))
            if relay.upgrade:
                near = take()
                async with self._closing(near[1]):
                    await join(near, far)
            else:
                far[1].write(request.body)
                await self._answer(relay, request, far, receive, send)

    @asynccontextmanager
    async def _closing(self, writer: asyncio.StreamWriter) -> AsyncIterator[None]:
        """Close a connection in the end, and wait until it is closed."""
        self._open.add(writer)
        try:
            yield
        finally:
            try:
                await farewell.close(writer, _FAREWELL_SECONDS)
            finally:
                self._open.discard(writer)

    async def _answer(
        self, relay: Relay, request: Request, far: Ends, receive: Any, send: Send
    ) -> None:
        reader, writer = far
        arriving = _Arriving(request.method)
        leaving = asyncio.create_task(_close_when_left(receive, writer))
        try:
            try:
                while not arriving.begun:
                    arriving.feed(await reader.read(BUFFERED))
            except (OSError, httptools.HttpParserError, EOFError) as error:
                raise relay.unreachable(str(error) or "EOF") from error
            if relay.refused is not None and not 200 <= arriving.status <= 206:
                text = await _text(arriving, reader)
                raise relay.refused(arriving.status, text)
            own = [(name, value) for name, value in arriving.headers if name.lower() not in _HOP]
            if relay.content_type:
                own = [pair for pair in own if pair[0].lower() != "content-type"]
            headers = self._common.headers(relay.content_type, own)
            start = {"type": "http.response.start", "status": arriving.status, "headers": headers}
            await send(start)
            await send({"type": "http.response.body", "body": b"", "more_body": True})
            with suppress(OSError, httptools.HttpParserError, EOFError):
                while not arriving.complete:
                    if body := arriving.taken():
                        await send({"type": "http.response.body", "body": body, "more_body": True})
                    arriving.feed(await reader.read(BUFFERED))
                await send({"type": "http.response.body", "body": arriving.taken()})
        finally:
            leaving.cancel()


class _Arriving:
    """An HTTP answer while it is read."""

    def __init__(self, method: str) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._bodiless = method == "HEAD"
        self._pieces: list[bytes] = []
        self.headers: list[tuple[str, str]] = []
        self.begun = self.complete = False
        self.status = 0

    def feed(self, data: bytes) -> None:
        """Read on.

        Raises:
            EOFError: The connection has ended before the answer.
        """
        if data:
            self._parser.feed_data(data)
        elif not self.begun or self._framed():
            raise EOFError("EOF")
        else:
            self.complete = True

    def taken(self) -> bytes:
        """Return what has come of the body since the last time."""
        body = b"".join(self._pieces)
        self._pieces.clear()
        return body

    def _framed(self) -> bool:
        return any(
            name.lower() in ("content-length", "transfer-encoding") for name, _ in self.headers
        )

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.decode("latin-1"), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status >= 200:
            self.status, self.begun, self.complete = status, True, self._bodiless
        else:
            self.headers.clear()

    def on_body(self, body: bytes) -> None:
        self._pieces.append(body)

    def on_message_complete(self) -> None:
        self.complete = self.begun


async def join(near: Ends, far: Ends) -> None:
    """Move bytes between two connections until one has ended; then end the other.

    Where a connection can be ended in one direction only, the other direction goes on.
    """
    up = asyncio.create_task(_move(near[0], far[1]))
    down = asyncio.create_task(_move(far[0], near[1]))
    try:
        await asyncio.wait({up, down}, return_when=asyncio.FIRST_COMPLETED)
        if not down.done() and far[1].can_write_eof():
            far[1].write_eof()
            await down
    finally:
        up.cancel()
        down.cancel()
        near[1].close()
        far[1].close()


async def _move(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(BUFFERED):
            writer.write(piece)
            await writer.drain()


async def _close_when_left(receive: Any, writer: asyncio.StreamWriter) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    writer.close()


async def _text(arriving: _Arriving, reader: asyncio.StreamReader) -> str:
    body = b""
    with suppress(OSError, httptools.HttpParserError, EOFError):
        while not arriving.complete and len(body) < _REFUSAL_BYTES:
            arriving.feed(await reader.read(BUFFERED))
            body += arriving.taken()
    body += arriving.taken()
    return body[:_REFUSAL_BYTES].decode(errors="replace")


def _head(relay: Relay, request: Request, headers: list[tuple[bytes, bytes]]) -> bytes:
    lines = [f"{request.method} {relay.target} HTTP/1.1", f"Host: {relay.destination}"]
    if relay.upgrade:
        lines += ["Connection: Upgrade", f"Upgrade: {request.headers['upgrade']}"]
    else:
        lines.append("Connection: close")
    if request.body or request.method in ("POST", "PUT", "PATCH"):
        lines.append(f"Content-Length: {len(request.body)}")
    kept = [
        name + b": " + value
        for name, value in headers
        if name not in _OURS and name.decode() not in _HOP and not name.startswith(_IMPERSONATION)
    ]
    return b"\r\n".join([*(line.encode("latin-1") for line in lines), *kept, b"", b""])

"""HTTP/1.1 as a kubelet speaks it: one request a connection, answered whole, piecemeal or upgraded.

Those who call a kubelet are few and stay long; so a connection is never used twice, and nothing of
a server's usual machinery is needed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

import httptools

TEXT: Final = "text/plain; charset=utf-8"
_LONGEST_REQUEST: Final = 1 << 20
_PATIENCE_SECONDS: Final = 30.0
_READ: Final = 64 * 1024


class NoRequest(Exception):
    """What came is no request."""


@dataclass(slots=True)
class Received:
    """One request; names of headers in small letters, values of one name joined by commas."""

    method: str = ""
    path: str = ""
    query: list[tuple[str, str]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def parameter(self, name: str) -> str:
        """Return the first query parameter of this name, or ""."""
        return next((value for key, value in self.query if key == name), "")

    def switch(self, name: str) -> bool:
        """Whether a query parameter is there and does not say no."""
        return self.parameter(name).lower() not in ("", "0", "false")

    @property
    def upgrade(self) -> str:
        """What the connection is to become, in small letters; "": it stays what it is."""
        connection = self.headers.get("connection", "").lower()
        return self.headers.get("upgrade", "").lower() if "upgrade" in connection else ""


class _Incoming:
    """Collects a request from the parser."""

    def __init__(self) -> None:
        self.asked = Received()
        self.url = b""
        self.complete = False

    def on_url(self, url: bytes) -> None:
        self.url += url

    def on_header(self, raw: bytes, value: bytes) -> None:
        name, text = raw.decode("latin-1").lower(), value.decode("latin-1")
        headers = self.asked.headers
        headers[name] = f"{headers[name]},{text}" if name in headers else text

    def on_body(self, body: bytes) -> None:
        self.asked.body += body

    def on_message_complete(self) -> None:
        self.complete = True


class Exchange:
    """One request and how it is answered."""

    def __init__(
        self,
        asked: Received,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.asked, self.reader, self.writer = asked, reader, writer

    @property
    def left(self) -> bool:
        """Whether the client is gone."""
        return self.writer.is_closing() or self.reader.at_eof()

    async def answer(self, status: int, body: bytes | str, content_type: str = TEXT) -> None:
        """Answer at once."""
        raw = body.encode() if isinstance(body, str) else body
        self._head(status, [("Content-Type", content_type), ("Content-Length", str(len(raw)))])
        if self.asked.method != "HEAD":
            self.writer.write(raw)
        await self.writer.drain()

    async def begin(self, content_type: str) -> None:
        """Begin an answer that comes piece by piece."""
        self._head(200, [("Content-Type", content_type), ("Transfer-Encoding", "chunked")])
        await self.writer.drain()

    async def piece(self, body: bytes) -> None:
        """Send a piece, no faster than the client reads; an empty one is the end."""
        self.writer.write(b"%x\r\n%b\r\n" % (len(body), body))
        await self.writer.drain()

    async def switch(self, protocol: str, headers: Sequence[tuple[str, str]]) -> None:
        """Become something else: after this, reader and writer speak it."""
        self._head(101, [("Connection", "Upgrade"), ("Upgrade", protocol), *headers])
        await self.writer.drain()

    def _head(self, status: int, headers: Sequence[tuple[str, str]]) -> None:
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
        lines += [f"{name}: {value}" for name, value in headers]
        if status != 101:
            lines.append("Connection: close")
        self.writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))


async def read_request(reader: asyncio.StreamReader) -> Received | None:
    """Return a connection's request; None where the client leaves without one.

    What follows a request to upgrade stays in the reader.

    Raises:
        NoRequest: It is none, is too long, or does not come in time.
    """
    incoming = _Incoming()
    parser = httptools.HttpRequestParser(incoming)
    size, data = 0, b""
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while not incoming.complete:
                data = await reader.read(_READ)
                if not data:
                    return None
                size += len(data)
                if size > _LONGEST_REQUEST:
                    raise NoRequest("too long")
                parser.feed_data(data)
    except TimeoutError:
        raise NoRequest("too slow") from None
    except httptools.HttpParserUpgrade as upgrade:
        _put_back(reader, data[upgrade.args[0] :])
    except httptools.HttpParserError as error:
        raise NoRequest(str(error)) from error
    asked = incoming.asked
    asked.method = parser.get_method().decode("latin-1")
    parts = urlsplit(incoming.url.decode("latin-1"))
    asked.path = unquote(parts.path)
    asked.query = parse_qsl(parts.query, keep_blank_values=True)
    return asked


def _put_back(reader: asyncio.StreamReader, data: bytes) -> None:
    """Give back what was read too much; the loop was not left since, so nothing came after it."""
    if data:
        reader.feed_data(data)

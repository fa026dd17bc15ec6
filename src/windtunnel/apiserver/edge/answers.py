"""Sending whole answers: headers that all of them carry, gzip for large ones.

A large body is compressed on a thread (zlib works without the interpreter's lock) and sent in
pieces, so that other requests have their turn in between.
"""

from __future__ import annotations

import asyncio
import secrets
import time
import zlib
from collections.abc import Awaitable, Callable, Iterable
from itertools import count
from typing import Any, Final

from windtunnel.apiserver.request import Answer
from windtunnel.kernel import Clock

Send = Callable[[Any], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

_GZIP_ABOVE: Final = 128 * 1024
_GZIP_LEVEL: Final = 1
_GZIP_WINDOW: Final = 31
"""zlib's way to ask for a gzip header."""
_THREAD_ABOVE: Final = 1024 * 1024
_PIECE: Final = 512 * 1024


class Common:
    """Makes the headers that every answer has."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._prefix = secrets.token_hex(4)
        self._count = count(1)
        self._second = -1
        self._date = b""

    def headers(self, content_type: str, own: Iterable[tuple[str, str]]) -> Headers:
        """Return an answer's own headers and what is missing of the common ones."""
        headers = [(name.lower().encode(), value.encode("utf-8")) for name, value in own]
        names = {name for name, _ in headers}
        if b"audit-id" not in names:
            headers.append((b"audit-id", self._audit_id()))
        if b"cache-control" not in names:
            headers.append((b"cache-control", b"no-cache, private"))
        if content_type and b"content-type" not in names:
            headers.append((b"content-type", content_type.encode()))
        headers.append((b"date", self._now()))
        return headers

    def _audit_id(self) -> bytes:
        number = f"{next(self._count):020x}"
        return f"{self._prefix}-{number[:4]}-4{number[5:8]}-8000-{number[8:]}".encode()

    def _now(self) -> bytes:
        second = int(self._clock.now())
        if second != self._second:
            self._second = second
            self._date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(second)).encode()
        return self._date


async def send_answer(answer: Answer, headers: Headers, accepts_gzip: bool, send: Send) -> None:
    """Send an answer that may leave."""
    body = answer.body
    if accepts_gzip and len(body) > _GZIP_ABOVE:
        if len(body) > _THREAD_ABOVE:
            body = await asyncio.to_thread(_compress, body)
        else:
            body = _compress(body)
        headers.append((b"content-encoding", b"gzip"))
        headers.append((b"vary", b"Accept-Encoding"))
    if answer.status != 304:
        headers.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    rest = memoryview(body)
    while len(rest) > _PIECE:
        await send({"type": "http.response.body", "body": rest[:_PIECE], "more_body": True})
        rest = rest[_PIECE:]
        await asyncio.sleep(0)
    await send({"type": "http.response.body", "body": rest})


def _compress(body: bytes) -> bytes:
    packer = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, _GZIP_WINDOW)
    return packer.compress(body) + packer.flush()

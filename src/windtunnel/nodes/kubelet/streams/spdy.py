"""SPDY/3.1 frames, as far as streams between Kubernetes programs use them; no I/O.

Bytes go in and events come out; what is to be sent is returned as bytes. Headers are compressed
over the whole connection, with the dictionary that the protocol starts from. There is no flow
control by windows: the library at the other end knows none and would never open one again.
Source: SPDY protocol, draft 3.1.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

_WORDS: Final = (
    "options head post put delete trace accept accept-charset accept-encoding accept-language "
    "accept-ranges age allow authorization cache-control connection content-base content-encoding "
    "content-language content-length content-location content-md5 content-range content-type date "
    "etag expect expires from host if-match if-modified-since if-none-match if-range "
    "if-unmodified-since last-modified location max-forwards pragma proxy-authenticate "
    "proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade "
    "user-agent vary via warning www-authenticate method get status"
)
_TAIL: Final = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 "
    "Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 "
    "Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service "
    "UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, "
    "Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,"
    "application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdch"
    "charset=utf-8charset=iso-8859-1,utf-,*,enq=0."
)


def _counted(text: str) -> bytes:
    return struct.pack(">I", len(text)) + text.encode("latin-1")


DICTIONARY: Final = (
    b"".join(
        map(
            _counted,
            [*_WORDS.split(" "), "200 OK", "version", "HTTP/1.1", "url", "public", "set-cookie",
             "keep-alive", "origin"],
        )
    )
    + _TAIL.encode()
)  # fmt: skip
"""What header compression begins with."""

_CONTROL: Final = 0x80030000
_SYN_STREAM, _SYN_REPLY, _RST_STREAM, _PING, _GO_AWAY = 1, 2, 3, 6, 7
_FIN: Final = 1
_CANCEL: Final = 5
_LONGEST_FRAME: Final = 1 << 20
_LONGEST_HEADERS: Final = 1 << 16


class Garbled(Exception):
    """The other side does not speak SPDY/3.1."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The other side has begun a stream."""

    stream: int
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Arrived:
    """Some bytes of a stream."""

    stream: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class Finished:
    """Nothing more comes in this stream; where ``reset``, nothing may be sent either."""

    stream: int
    reset: bool = False


@dataclass(frozen=True, slots=True)
class Pinged:
    """The other side wants to see ``answer``."""

    answer: bytes


@dataclass(frozen=True, slots=True)
class Left:
    """The other side opens no more streams."""


Event = Opened | Arrived | Finished | Pinged | Left


class Framing:
    """One connection's frames, at the accepting end."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._inflate = zlib.decompressobj(zdict=DICTIONARY)
        self._deflate = zlib.compressobj(zdict=DICTIONARY)

    def feed(self, data: bytes) -> Iterator[Event]:
        """Yield what has become whole with these bytes.

        Raises:
            Garbled: They are no frames.
        """
        self._buffer += data
        while len(self._buffer) >= 8:
            first, second = struct.unpack_from(">II", self._buffer)
            length = second & 0xFFFFFF
            if length > _LONGEST_FRAME:
                raise Garbled(f"a frame of {length} bytes")
            if len(self._buffer) < 8 + length:
                return
            body = bytes(self._buffer[8 : 8 + length])
            del self._buffer[: 8 + length]
            flags = second >> 24
            if first >> 31:
                if first & 0xFFFF0000 != _CONTROL:
                    raise Garbled("another version")
                yield from self._control(first & 0xFFFF, flags, body)
            else:
                if body:
                    yield Arrived(first, body)
                if flags & _FIN:
                    yield Finished(first)

    def _control(self, kind: int, flags: int, body: bytes) -> Iterator[Event]:
        try:
            if kind == _SYN_STREAM:
                (stream,) = struct.unpack_from(">I", body)
                yield Opened(stream & 0x7FFFFFFF, self._headers(body[10:]))
                if flags & _FIN:
                    yield Finished(stream & 0x7FFFFFFF)
            elif kind == _RST_STREAM:
                yield Finished(struct.unpack_from(">I", body)[0] & 0x7FFFFFFF, reset=True)
            elif kind == _PING:
                yield Pinged(_framed(_PING, body))
            elif kind == _GO_AWAY:
                yield Left()
        except struct.error:
            raise Garbled("a short frame") from None

    def _headers(self, block: bytes) -> dict[str, str]:
        try:
            plain = self._inflate.decompress(block, _LONGEST_HEADERS)
        except zlib.error as error:
            raise Garbled(f"headers: {error}") from error
        if self._inflate.unconsumed_tail:
            raise Garbled("headers without end")
        (count,) = struct.unpack_from(">I", plain)
        texts, at = [], 4
        for _ in range(2 * count):
            (length,) = struct.unpack_from(">I", plain, at)
            texts.append(plain[at + 4 : at + 4 + length].decode("latin-1"))
            at += 4 + length
        return dict(zip((name.lower() for name in texts[::2]), texts[1::2], strict=True))

    def reply(self, stream: int) -> bytes:
        """Accept a stream."""
        block = self._deflate.compress(struct.pack(">I", 0))
        block += self._deflate.flush(zlib.Z_SYNC_FLUSH)
        return _framed(_SYN_REPLY, struct.pack(">I", stream) + block)

    @staticmethod
    def carry(stream: int, payload: bytes, *, last: bool = False) -> bytes:
        """Send bytes in a stream; after the last nothing may follow."""
        return struct.pack(">II", stream, (_FIN if last else 0) << 24 | len(payload)) + payload

    @staticmethod
    def reset(stream: int) -> bytes:
        """End a stream in both directions."""
        return _framed(_RST_STREAM, struct.pack(">II", stream, _CANCEL))


def _framed(kind: int, body: bytes) -> bytes:
    return struct.pack(">II", _CONTROL | kind, len(body)) + body

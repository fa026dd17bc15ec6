"""The other end of SPDY, for tests: opens streams and reads what comes."""

from __future__ import annotations

import struct
import zlib
from collections import defaultdict
from collections.abc import Callable

from windtunnel.nodes.kubelet.streams.spdy import DICTIONARY


class SpdyClient:
    """One connection's opening end."""

    def __init__(self, send: Callable[[bytes], object], receive: Callable[[], bytes]) -> None:
        self._send, self._receive = send, receive
        self._deflate = zlib.compressobj(zdict=DICTIONARY)
        self._next = 1
        self._buffer = b""
        self.came: dict[int, bytes] = defaultdict(bytes)
        self.ended: set[int] = set()
        self.replied: set[int] = set()
        self.pings: list[bytes] = []

    def open(self, *, fin: bool = False, **headers: str) -> int:
        stream, self._next = self._next, self._next + 2
        plain = struct.pack(">I", len(headers))
        for pair in headers.items():
            for text in pair:
                plain += struct.pack(">I", len(text)) + text.encode()
        block = self._deflate.compress(plain) + self._deflate.flush(zlib.Z_SYNC_FLUSH)
        body = struct.pack(">IIH", stream, 0, 0) + block
        self._control(1, body, int(fin))
        return stream

    def write(self, stream: int, payload: bytes = b"", *, fin: bool = False) -> None:
        self._send(struct.pack(">II", stream, int(fin) << 24 | len(payload)) + payload)

    def reset(self, stream: int) -> None:
        self._control(3, struct.pack(">II", stream, 5))

    def ping(self) -> None:
        self._control(6, struct.pack(">I", 77))

    def _control(self, kind: int, body: bytes, flags: int = 0) -> None:
        self._send(struct.pack(">II", 0x80030000 | kind, flags << 24 | len(body)) + body)

    def until(self, condition: Callable[[], bool]) -> None:
        """Read until something is so; the connection must not end before."""
        while not condition():
            data = self._receive()
            assert data, "the connection has ended"
            self._buffer += data
            self._take()

    def _take(self) -> None:
        while len(self._buffer) >= 8:
            first, second = struct.unpack_from(">II", self._buffer)
            length = second & 0xFFFFFF
            if len(self._buffer) < 8 + length:
                return
            body, self._buffer = self._buffer[8 : 8 + length], self._buffer[8 + length :]
            if not first >> 31:
                self.came[first] += body
                if second >> 24 & 1:
                    self.ended.add(first)
            elif first & 0xFFFF == 2:
                self.replied.add(struct.unpack_from(">I", body)[0])
            elif first & 0xFFFF == 3:
                self.ended.add(struct.unpack_from(">I", body)[0])
            elif first & 0xFFFF == 6:
                self.pings.append(body)

"""Forwarded ports: connections of a client that end at a pod's address.

In SPDY form a connection is a pair of streams of one ``requestID``, one for bytes and one that says
what went wrong; in the older channel form there is one connection for each port that was asked for.
A client that sends faster than a pod reads waits, with all his connections: the protocol has no
flow control of its own.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from windtunnel.nodes.kubelet.streams import spdy
from windtunnel.nodes.kubelet.streams.channels import Dialect
from windtunnel.nodes.kubelet.streams.talks import Wire
from windtunnel.nodes.kubelet.streams.websocket import WebSocket

_PIECE: Final = 32 * 1024
_DIAL_SECONDS: Final = 10.0
_MOST_EARLY: Final = 1 << 20
"""Bytes for a connection that is not there yet."""

Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True, slots=True)
class Target:
    """The pod whose ports are forwarded."""

    uid: str
    host: str
    """Where its ports are served."""

    async def dial(self, port: int) -> Ends | str:
        """Connect to one of its ports, or say why it cannot be forwarded."""
        try:
            async with asyncio.timeout(_DIAL_SECONDS):
                return await asyncio.open_connection(self.host, port)
        except ConnectionRefusedError:
            why = "connect: connection refused"
        except TimeoutError:
            why = "i/o timeout"
        except OSError as error:
            why = error.strerror or type(error).__name__
        return (
            f"error forwarding port {port} to pod {self.uid}, uid : failed to connect to "
            f"localhost:{port}: dial tcp4 {self.host}:{port}: {why}"
        )


@dataclass(slots=True)
class _Pair:
    """One connection of the client."""

    port: int
    data: int = 0
    error: int = 0
    early: bytearray = field(default_factory=bytearray)
    ended: bool = False
    """The client sends no more."""
    writer: asyncio.StreamWriter | None = None
    carrying: asyncio.Task[None] | None = None


class SpdyForwarding:
    """Forwards the connections of one client that speaks SPDY."""

    def __init__(self, wire: Wire, target: Target) -> None:
        self._wire, self._target = wire, target
        self._framing = spdy.Framing()
        self._pairs: dict[str, _Pair] = {}
        self._by_stream: dict[int, _Pair] = {}

    async def run(self) -> None:
        """Forward until the client leaves."""
        try:
            while (data := await self._wire.receive()) is not None:
                for event in self._framing.feed(data):
                    await self._take(event)
        except (spdy.Garbled, OSError):
            pass
        finally:
            for pair in list(self._pairs.values()):
                if pair.carrying is not None:
                    pair.carrying.cancel()
                if pair.writer is not None:
                    pair.writer.close()
            await self._wire.close()

    async def _take(self, event: spdy.Event) -> None:
        match event:
            case spdy.Opened(stream, headers):
                await self._open(stream, headers.get("requestid", ""), dict(headers))
            case spdy.Arrived(stream, payload):
                await self._pass_on(self._by_stream.get(stream), stream, payload)
            case spdy.Finished(stream, reset):
                pair = self._by_stream.get(stream)
                if pair is not None and stream == pair.data:
                    self._finish(pair, reset=reset)
            case spdy.Pinged(answer):
                await self._wire.send(answer)

    async def _open(self, stream: int, request: str, headers: dict[str, str]) -> None:
        port, kind = headers.get("port", ""), headers.get("streamtype", "")
        if not port.isdigit() or not 0 < int(port) < 65536 or kind not in ("data", "error"):
            await self._wire.send(self._framing.reset(stream))
            return
        await self._wire.send(self._framing.reply(stream))
        pair = self._pairs.setdefault(request, _Pair(int(port)))
        self._by_stream[stream] = pair
        if kind == "data":
            pair.data = stream
        else:
            pair.error = stream
        if pair.data and pair.error and pair.carrying is None:
            pair.carrying = asyncio.create_task(self._carry(request, pair))

    async def _pass_on(self, pair: _Pair | None, stream: int, payload: bytes) -> None:
        if pair is None or stream != pair.data:
            return
        if pair.writer is None:
            pair.early += payload
            if len(pair.early) > _MOST_EARLY:
                raise ConnectionAbortedError("the client does not wait for the connection")
            return
        with suppress(OSError):
            pair.writer.write(payload)
            await pair.writer.drain()

    @staticmethod
    def _finish(pair: _Pair, *, reset: bool) -> None:
        pair.ended = True
        if pair.writer is not None:
            if reset:
                pair.writer.close()
            else:
                _end(pair.writer)

    async def _carry(self, request: str, pair: _Pair) -> None:
        """Connect, then bring back what the pod sends."""
        framing, send = self._framing, self._wire.send
        try:
            ends = await self._target.dial(pair.port)
            if isinstance(ends, str):
                await send(framing.carry(pair.error, ends.encode(), last=True))
                await send(framing.carry(pair.data, b"", last=True))
                return
            reader, writer = ends
            try:
                writer.write(bytes(pair.early))
                pair.writer = writer
                if pair.ended:
                    _end(writer)
                while piece := await _read(reader):
                    await send(framing.carry(pair.data, piece))
                await send(framing.carry(pair.data, b"", last=True))
                await send(framing.carry(pair.error, b"", last=True))
            finally:
                writer.close()
        except OSError:
            return  # the client has left, or the pod has hung up roughly
        finally:
            self._pairs.pop(request, None)
            self._by_stream.pop(pair.data, None)
            self._by_stream.pop(pair.error, None)


async def forward_channels(
    socket: WebSocket, dialect: Dialect, target: Target, ports: Sequence[int]
) -> None:
    """Forward one connection for each port, in two channels each, until the client leaves."""
    arriving: list[asyncio.Queue[bytes]] = [asyncio.Queue(16) for _ in ports]

    async def carry(index: int, port: int) -> None:
        mark = struct.pack("<H", port)
        await socket.send(dialect.written(2 * index, mark))
        await socket.send(dialect.written(2 * index + 1, mark))
        ends = await target.dial(port)
        if isinstance(ends, str):
            await socket.send(dialect.written(2 * index + 1, ends.encode()))
            return
        reader, writer = ends
        feeding = asyncio.create_task(_feed(arriving[index], writer))
        try:
            while piece := await _read(reader):
                await socket.send(dialect.written(2 * index, piece))
        finally:
            feeding.cancel()
            writer.close()

    async def carry_quietly(index: int, port: int) -> None:
        with suppress(OSError):
            await carry(index, port)

    carrying = [asyncio.create_task(carry_quietly(*each)) for each in enumerate(ports)]
    listening = asyncio.create_task(_distribute(socket, dialect, arriving))
    listening.add_done_callback(lambda _: [task.cancel() for task in carrying])
    try:
        await asyncio.gather(*carrying, return_exceptions=True)
    finally:
        listening.cancel()
        await socket.close()


async def _distribute(
    socket: WebSocket, dialect: Dialect, arriving: Sequence[asyncio.Queue[bytes]]
) -> None:
    while (raw := await socket.receive()) is not None:
        message = dialect.read(raw)
        if message is not None and message.channel % 2 == 0:
            index = message.channel // 2
            if index < len(arriving) and message.payload:
                await arriving[index].put(message.payload)


async def _feed(arriving: asyncio.Queue[bytes], writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while True:
            writer.write(await arriving.get())
            await writer.drain()


async def _read(reader: asyncio.StreamReader) -> bytes:
    """Return some bytes, b"" at the end, a rough end included."""
    try:
        return await reader.read(_PIECE)
    except OSError:
        return b""


def _end(writer: asyncio.StreamWriter) -> None:
    with suppress(OSError, RuntimeError):
        writer.write_eof()

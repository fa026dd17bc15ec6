"""The two ways to speak to a client in channels: WebSocket messages, and SPDY streams."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import Final, Protocol

from windtunnel.nodes.kubelet.streams import spdy
from windtunnel.nodes.kubelet.streams.channels import (
    ERROR,
    RESIZE,
    STDERR,
    STDIN,
    STDOUT,
    Dialect,
    Message,
)
from windtunnel.nodes.kubelet.streams.websocket import WebSocket

_STREAM_SECONDS: Final = 30.0
"""How long a client may take to open the streams that it has announced."""
_READ: Final = 64 * 1024
_NAMES: Final = {
    "stdin": STDIN, "stdout": STDOUT, "stderr": STDERR, "error": ERROR, "resize": RESIZE,
}  # fmt: skip


class ChannelTalk:
    """Speaks to a client over a WebSocket in one of its dialects."""

    def __init__(self, socket: WebSocket, dialect: Dialect) -> None:
        self._socket, self._dialect = socket, dialect
        self.statuses = dialect.statuses

    async def receive(self) -> Message | None:
        """Return what the client has sent; None when he has left."""
        while (raw := await self._socket.receive()) is not None:
            message = self._dialect.read(raw)
            if message is not None:
                return message
        return None

    async def send(self, channel: int, payload: bytes) -> None:
        """Send to the client."""
        await self._socket.send(self._dialect.written(channel, payload))

    async def close(self) -> None:
        """End the talk."""
        await self._socket.close()


class Wire(Protocol):
    """Moves the bytes of a SPDY connection, whatever they travel in."""

    async def receive(self) -> bytes | None:
        """Return some bytes; None when the other side has left."""
        ...

    async def send(self, data: bytes) -> None:
        """Send bytes; raises OSError when the other side has left."""
        ...

    async def close(self) -> None:
        """End the connection."""
        ...


class PlainWire:
    """A connection that was upgraded to SPDY itself."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def receive(self) -> bytes | None:
        """Return some bytes; None when the other side has left."""
        try:
            return await self._reader.read(_READ) or None
        except OSError:
            return None

    async def send(self, data: bytes) -> None:
        """Send bytes."""
        self._writer.write(data)
        await self._writer.drain()

    async def close(self) -> None:
        """End the connection after what is on its way."""
        self._writer.close()


class TunnelWire:
    """A WebSocket whose messages are pieces of a SPDY connection."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket

    async def receive(self) -> bytes | None:
        """Return some bytes; None when the other side has left."""
        message = await self._socket.receive()
        return message.encode() if isinstance(message, str) else message

    async def send(self, data: bytes) -> None:
        """Send bytes."""
        await self._socket.send(data)

    async def close(self) -> None:
        """End the connection."""
        await self._socket.close()


class SpdyTalk:
    """Speaks to a client in SPDY streams, one for each channel."""

    def __init__(self, wire: Wire, *, statuses: bool) -> None:
        self._wire, self.statuses = wire, statuses
        self._framing = spdy.Framing()
        self._streams: dict[int, int] = {}
        """Streams by channel."""
        self._channels: dict[int, int] = {}
        self._due: deque[Message] = deque()

    async def opened(self, wanted: Iterable[int]) -> bool:
        """Wait until the client has opened these channels; False: he has not."""
        missing = set(wanted)
        try:
            async with asyncio.timeout(_STREAM_SECONDS):
                while missing - self._streams.keys():
                    if not await self._read():
                        return False
        except TimeoutError:
            return False
        return True

    async def receive(self) -> Message | None:
        """Return what the client has sent; None when he has left."""
        while not self._due:
            if not await self._read():
                return None
        return self._due.popleft()

    async def send(self, channel: int, payload: bytes) -> None:
        """Send to the client."""
        stream = self._streams.get(channel)
        if stream is not None and payload:
            await self._wire.send(self._framing.carry(stream, payload))

    async def close(self) -> None:
        """End all streams, then the connection."""
        try:
            for stream in self._streams.values():
                await self._wire.send(self._framing.carry(stream, b"", last=True))
            # The client closes the connection when he has read all; he is not cut off before.
            async with asyncio.timeout(_STREAM_SECONDS):
                while await self._read():
                    pass
        except OSError:
            pass
        await self._wire.close()

    async def _read(self) -> bool:
        data = await self._wire.receive()
        if data is None:
            return False
        try:
            for event in self._framing.feed(data):
                match event:
                    case spdy.Opened(stream, headers):
                        channel = _NAMES.get(headers.get("streamtype", ""))
                        if channel is None or channel in self._streams:
                            await self._wire.send(self._framing.reset(stream))
                            continue
                        self._streams[channel] = stream
                        self._channels[stream] = channel
                        await self._wire.send(self._framing.reply(stream))
                    case spdy.Arrived(stream, payload) if stream in self._channels:
                        self._due.append(Message(self._channels[stream], payload))
                    case spdy.Finished(stream) if stream in self._channels:
                        self._due.append(Message(self._channels[stream], last=True))
                    case spdy.Pinged(answer):
                        await self._wire.send(answer)
        except (spdy.Garbled, OSError):
            return False
        return True

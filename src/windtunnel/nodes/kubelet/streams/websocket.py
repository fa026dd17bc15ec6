"""WebSocket connections at the accepting end: the handshake, and whole messages both ways."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections import deque
from typing import Final

from wsproto.connection import Connection, ConnectionType
from wsproto.events import (
    BytesMessage,
    CloseConnection,
    Event,
    Message,
    Ping,
    TextMessage,
)
from wsproto.utilities import LocalProtocolError, RemoteProtocolError

_GUID: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_LONGEST_MESSAGE: Final = 4 << 20
_READ: Final = 64 * 1024
_TOO_BIG: Final = 1009
_NORMAL: Final = 1000


def accept_key(key: str) -> str:
    """Return what proves to a client that its handshake was understood."""
    return base64.b64encode(hashlib.sha1(key.encode() + _GUID).digest()).decode()


class WebSocket:
    """One open WebSocket."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._frames = Connection(ConnectionType.SERVER)
        self._due: deque[bytes | str] = deque()
        self._pieces: list[bytes] = []
        self._over = False

    async def receive(self) -> bytes | str | None:
        """Return the next message; None when the client has left."""
        while not self._due:
            if self._over:
                return None
            try:
                data = await self._reader.read(_READ)
                self._frames.receive_data(data or None)
                for event in self._frames.events():
                    await self._take(event)
            except (OSError, LocalProtocolError, RemoteProtocolError):
                self._over = True
        return self._due.popleft()

    async def send(self, message: bytes | str) -> None:
        """Send a message, no faster than the client reads.

        Raises:
            OSError: The client has left.
        """
        event = (
            TextMessage(data=message) if isinstance(message, str) else BytesMessage(data=message)
        )
        await self._write(event)

    async def close(self) -> None:
        """Say goodbye; harmless when the client has left."""
        try:
            await self._write(CloseConnection(code=_NORMAL))
        except OSError:
            return

    async def _write(self, event: Event) -> None:
        try:
            self._writer.write(self._frames.send(event))
        except LocalProtocolError as error:
            raise ConnectionResetError("the WebSocket is closed") from error
        await self._writer.drain()

    async def _take(self, event: Event) -> None:
        if isinstance(event, Message):
            text = isinstance(event, TextMessage)
            self._pieces.append(event.data.encode() if text else bytes(event.data))
            if sum(map(len, self._pieces)) > _LONGEST_MESSAGE:
                await self._write(CloseConnection(code=_TOO_BIG))
                self._over = True
            elif event.message_finished:
                whole = b"".join(self._pieces)
                self._pieces.clear()
                self._due.append(whole.decode() if text else whole)
        elif isinstance(event, Ping):
            await self._write(event.response())
        elif isinstance(event, CloseConnection):
            self._over = True
            try:
                await self._write(event.response())
            except OSError:
                return

"""Sending watches: frames in order, each when its revision is durable.

A frame's bytes are made once for all watchers; here they are only joined and sent. A watcher that
reads too slowly is cut off once it is too far behind: it comes back and resumes from history.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Final

from windtunnel.apiserver.edge.answers import Headers, Send
from windtunnel.apiserver.edge.gate import Gate
from windtunnel.apiserver.request import Frame, Stream
from windtunnel.store import Store

_BOOKMARK_SECONDS: Final = 60.0
_MOST_BEHIND_BYTES: Final = 32 * 1024 * 1024
"""Frames waiting for one watcher, those of its beginning not counted."""
_PIECE: Final = 64 * 1024
"""What is handed to a connection at once: a reader that stands still holds no more than this."""


class Pump:
    """Moves one stream's frames from the core to its connection."""

    def __init__(self, stream: Stream, store: Store, gate: Gate) -> None:
        self._stream, self._store, self._gate = stream, store, gate
        self._frames: deque[Frame] = deque()
        self._behind = 0
        self._opening = True
        self._ready = asyncio.Event()
        self._armed = False
        self._ended = False
        self._next_bookmark: asyncio.TimerHandle | None = None

    def end(self) -> None:
        """End the stream after what is being sent; harmless when it has ended."""
        self._ended = True
        self._ready.set()

    async def run(self, headers: Headers, receive: Any, send: Send) -> None:
        """Open the stream and send until it ends, the client leaves or the time is up."""
        loop = asyncio.get_running_loop()
        gone = loop.create_task(self._watch_client(receive))
        timer = loop.call_later(self._stream.timeout_seconds, self.end)
        self._plan_bookmark(loop)
        try:
            self._stream.open(self._deliver)
            self._opening = False
            await self._gate.passed(self._store.revision)
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            # An empty piece lets the headers out, so that the client knows it is connected.
            await send({"type": "http.response.body", "body": b"", "more_body": True})
            while not self._ended:
                self._arm()
                await self._ready.wait()
                self._ready.clear()
                await self._send_due(send)
            await send({"type": "http.response.body", "body": b""})
        finally:
            self._ended = True
            self._stream.close()
            timer.cancel()
            gone.cancel()
            if self._next_bookmark is not None:
                self._next_bookmark.cancel()

    def _deliver(self, frame: Frame) -> None:
        self._frames.append(frame)
        if self._opening:
            return
        self._behind += len(frame.body)
        if self._behind > _MOST_BEHIND_BYTES:
            self._frames.clear()
            self.end()
        else:
            self._arm()

    def _arm(self) -> None:
        """Have the pump woken when the first waiting frame may leave."""
        if self._frames and not self._armed:
            self._armed = True
            self._gate.call_when_open(self._frames[0].revision, self._wake)

    def _wake(self) -> None:
        self._armed = False
        self._ready.set()

    async def _send_due(self, send: Send) -> None:
        durable = self._store.durable
        frames = self._frames
        while frames and frames[0].revision <= durable:
            piece: list[bytes] = []
            size = 0
            while frames and frames[0].revision <= durable:
                if piece and size + len(frames[0].body) > _PIECE:
                    break  # what is large goes alone, so that nothing is joined to it
                frame = frames.popleft()
                size += len(frame.body)
                piece.append(frame.body)
                if frame.last:
                    self._ended = True
                    frames.clear()
            self._behind = max(0, self._behind - size)
            await _send_all(piece, send)
        if frames and self._store.failure is not None:
            # What waits will never be durable, and so must never leave.
            self.end()

    def _plan_bookmark(self, loop: asyncio.AbstractEventLoop) -> None:
        self._next_bookmark = loop.call_later(_BOOKMARK_SECONDS, self._bookmark, loop)

    def _bookmark(self, loop: asyncio.AbstractEventLoop) -> None:
        # With frames waiting it would be untrue; and then the client needs none.
        frame = None if self._frames else self._stream.bookmark(self._store.revision)
        if frame is not None:
            self._deliver(frame)
        self._plan_bookmark(loop)

    async def _watch_client(self, receive: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._frames.clear()
        self.end()


async def _send_all(bodies: list[bytes], send: Send) -> None:
    """Send bodies in order: small ones joined, large ones cut without a copy of the whole."""
    rest = memoryview(bodies[0] if len(bodies) == 1 else b"".join(bodies))
    while len(rest):
        await send({"type": "http.response.body", "body": rest[:_PIECE], "more_body": True})
        rest = rest[_PIECE:]

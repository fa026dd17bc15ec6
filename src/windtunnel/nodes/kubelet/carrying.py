"""Carrying connections: from a port of this machine to whoever stands behind it, byte by byte.

It is done on a thread of its own, so that the loop waits for nobody's bytes. Only TCP is carried.
"""

from __future__ import annotations

import asyncio
import itertools
import socket
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

_PIECE: Final = 64 * 1024
_CONNECT_SECONDS: Final = 10.0
_STOP_SECONDS: Final = 5.0


@dataclass(slots=True)
class CarriedPort:
    """A port that is listened at, and who stands behind it."""

    host: str
    port: int
    socket: socket.socket
    name: str
    backends: list[tuple[str, int]] = field(default_factory=list)
    turn: Iterator[int] = field(default_factory=itertools.count)
    server: asyncio.Server | None = None


class Carrier:
    """The thread that carries; there is none before ``start`` and after ``stop``."""

    def __init__(self) -> None:
        self._events: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Carry from now on."""
        self._events = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._events.run_forever, name="service-proxy", daemon=True
        )
        self._thread.start()

    def stop(self, ports: Iterable[CarriedPort]) -> None:
        """Close these ports, and carry nothing any more."""
        events, thread = self._events, self._thread
        self._events = self._thread = None
        if events is None or thread is None:
            return
        for port in ports:
            events.call_soon_threadsafe(_close, port)
        events.call_soon_threadsafe(events.stop)
        thread.join(_STOP_SECONDS)
        if not thread.is_alive():
            _finish(events)

    def open(self, port: CarriedPort) -> None:
        """Carry what comes to a port."""
        if self._events is not None:
            asyncio.run_coroutine_threadsafe(_serve(port), self._events)

    def close(self, port: CarriedPort) -> None:
        """Listen at a port no more."""
        if self._events is not None:
            self._events.call_soon_threadsafe(_close, port)


def bind(host: str, ports: Iterable[int]) -> socket.socket:
    """Bind the first of the ports that can be had; 0 is any."""
    for number in ports:
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((host, number))
            made.listen(128)
        except OSError:
            made.close()
            if not number:
                raise
        else:
            made.setblocking(False)
            return made
    raise AssertionError("either bound or raised")


async def _serve(carried: CarriedPort) -> None:
    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _carry(carried, reader, writer)
        finally:
            writer.close()

    with suppress(OSError):
        carried.server = await asyncio.start_server(accept, sock=carried.socket, limit=_PIECE)


async def _carry(
    carried: CarriedPort, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Carry one connection to a backend, to the next where one does not answer."""
    candidates = list(carried.backends)
    first = next(carried.turn)
    for number in range(len(candidates)):
        host, port = candidates[(first + number) % len(candidates)]
        try:
            there, back = await asyncio.wait_for(
                asyncio.open_connection(host, port, limit=_PIECE), _CONNECT_SECONDS
            )
        except OSError:
            continue
        try:
            await asyncio.gather(_copy(reader, back), _copy(there, writer))
        finally:
            back.close()
        return


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await source.read(_PIECE):
            sink.write(piece)
            await sink.drain()
        if sink.can_write_eof():
            sink.write_eof()


def _close(carried: CarriedPort) -> None:
    if carried.server is not None:
        carried.server.close()
    else:
        carried.socket.close()


def _finish(events: asyncio.AbstractEventLoop) -> None:
    """End what is still carried, then the event loop."""
    tasks = asyncio.all_tasks(events)
    for task in tasks:
        task.cancel()
    if tasks:
        events.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    events.run_until_complete(events.shutdown_asyncgens())
    events.close()

"""What the HTTP edge costs: a POST from its bytes to the bytes of its answer, without the core.

The bar: 120 µs on the deciding thread, TLS and system calls not counted.
"""

from __future__ import annotations

import asyncio
import socket
import time
from typing import Any

import uvloop
from uvicorn.server import ServerState

from windtunnel.apiserver.edge import Server
from windtunnel.apiserver.edge.protocol import CertificateProtocol
from windtunnel.apiserver.edge.server import configured
from windtunnel.apiserver.request import Answer
from windtunnel.kernel import WallClock
from windtunnel.store import Store
from windtunnel.store.memory import MemoryBackend

REQUESTS = 5_000
REQUEST = (
    b"POST /api/v1/namespaces/default/pods?fieldManager=x&fieldValidation=Strict HTTP/1.1\r\n"
    b"Host: 127.0.0.1:6443\r\nUser-Agent: bench\r\nContent-Length: 800\r\n"
    b"Accept: application/json\r\nAuthorization: Bearer token\r\nAccept-Encoding: gzip\r\n"
    b"Content-Type: application/json\r\n\r\n" + b"x" * 800
)


class Sink(asyncio.Transport):
    """A connection whose bytes go nowhere."""

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("127.0.0.1", 1) if name in ("peername", "sockname") else default

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def write(self, data: object) -> None:
        pass

    def is_closing(self) -> bool:
        return False

    def resume_reading(self) -> None:
        pass


async def measure() -> None:
    answer = Answer(201, b"x" * 1800)
    store = Store(MemoryBackend(), WallClock())
    server = Server(lambda _: answer, store, WallClock(), crashed=print)
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    await server.start(listener)
    protocol = CertificateProtocol(configured(server.app), ServerState(), {})
    protocol.connection_made(Sink())
    began = time.process_time()
    for _ in range(REQUESTS):
        protocol.data_received(REQUEST)
        while not protocol.cycle.response_complete:
            await asyncio.sleep(0)
    took = time.process_time() - began
    print(f"  a POST through the edge {took / REQUESTS * 1e6:8.1f} µs")
    await server.stop()


if __name__ == "__main__":
    uvloop.run(measure())

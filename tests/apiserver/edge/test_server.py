"""Listening and stopping."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from windtunnel.apiserver.edge import Server
from windtunnel.apiserver.request import Answer, Outcome, Request
from windtunnel.kernel import VirtualClock
from windtunnel.machinery.admission import Ask
from windtunnel.store import Store
from windtunnel.store.memory import MemoryBackend


def test_a_stopped_server_accepts_nothing(serve: Any) -> None:
    served = serve(lambda _: Answer(200, b"{}"))
    served.ask("GET", "/")
    served.stop()

    with pytest.raises(ConnectionRefusedError):
        served.ask("GET", "/")


def test_stopping_twice_or_unstarted_is_harmless() -> None:
    async def run() -> None:
        store = Store(MemoryBackend(), VirtualClock())
        server = Server(lambda _: Answer(200, b""), store, VirtualClock(), crashed=print)
        await server.stop()
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        again = Server(lambda _: Answer(200, b""), store, VirtualClock(), crashed=print)
        await again.start(listener)
        await again.stop()
        await again.stop()

    asyncio.run(run())


def test_an_answer_under_way_is_let_out(serve: Any, silent_port: int) -> None:
    def handle(request: Request) -> Outcome:
        if request.answers:
            return Answer(200, b"done")
        return Ask("hook", f"http://127.0.0.1:{silent_port}/", b"", timeout_seconds=0.2)

    served = serve(handle)
    with ThreadPoolExecutor(1) as client:
        got = client.submit(served.ask, "POST", "/", b"")
        while not served.on_its_thread(lambda: len(served.server._state.tasks)):
            pass
        served.stop()

        assert got.result(10).body == b"done"


def test_rubbish_instead_of_http_is_refused(serve: Any) -> None:
    served = serve(lambda _: Answer(200, b"{}"))
    with socket.create_connection(("127.0.0.1", served.port)) as connection:
        connection.sendall(b"\x16\x03\x01 rubbish\r\n\r\n")

        assert connection.recv(65536).startswith(b"HTTP/1.1 400 ")

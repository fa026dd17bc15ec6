"""A kubelet's API over a stand-in runtime, without TLS, and clients for it."""

from __future__ import annotations

import http.client
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import websocket
from tests.nodes.kubelet.streams.stand_in import StandIn

from windtunnel.kernel import VirtualClock
from windtunnel.nodes.kubelet.streams.api import KubeletApi

NOW = 1_800_000_000.0


class Nobody:
    """An API server that is never asked."""


@dataclass
class Kubelet:
    """One kubelet API that listens."""

    runtime: StandIn
    port: int
    crashes: list[Exception]
    stop: Callable[[], None]
    open: list[websocket.WebSocket] = field(default_factory=list)

    def ask(self, method: str, path: str, **headers: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        body = response.read()
        connection.close()
        return response.status, body

    def socket(self, path: str, *protocols: str) -> websocket.WebSocket:
        found = websocket.create_connection(
            f"ws://127.0.0.1:{self.port}{path}", subprotocols=list(protocols), timeout=10
        )
        self.open.append(found)
        return found


@pytest.fixture
def kubelet(tmp_path: Path) -> Iterator[Kubelet]:
    runtime: Any = StandIn(tmp_path)
    nobody: Any = Nobody()
    crashes: list[Exception] = []
    api = KubeletApi(
        runtime,
        lambda: runtime.pods,
        runtime.find,
        node="n1",
        review=nobody,
        clock=VirtualClock(NOW),
        credentials=None,
        configuration=lambda: {"kind": "KubeletConfiguration"},
        figures=lambda: b"own 1\n",
        crashed=crashes.append,
    )
    found = Kubelet(runtime, api.start("127.0.0.1"), crashes, api.stop)
    yield found
    for each in found.open:
        each.shutdown()
    api.stop()
    assert crashes == []


Frames = Callable[[websocket.WebSocket], list[Any]]


def all_frames(socket: websocket.WebSocket) -> list[bytes]:
    """Read a WebSocket to its end."""
    frames = []
    while True:
        opcode, frame = socket.recv_data()
        if opcode == websocket.ABNF.OPCODE_CLOSE:
            return frames
        frames.append(frame)

"""Programs over plain SPDY: the older way, which clients fall back to."""

from __future__ import annotations

import json
import socket

from tests.nodes.kubelet.streams.conftest import Kubelet
from tests.nodes.kubelet.streams.spdy_client import SpdyClient


def test_a_program_over_spdy_streams(kubelet: Kubelet) -> None:
    kubelet.runtime.add("p")
    with socket.create_connection(("127.0.0.1", kubelet.port), timeout=10) as plain:
        plain.sendall(
            b"POST /exec/default/p/main?input=1&output=1&error=1&command=cat HTTP/1.1\r\n"
            b"Host: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"
            b"X-Stream-Protocol-Version: v9.channel.k8s.io\r\n"
            b"X-Stream-Protocol-Version: v4.channel.k8s.io\r\n\r\n"
        )
        head = b""
        while b"\r\n\r\n" not in head:
            head += plain.recv(1)
        client = SpdyClient(plain.sendall, lambda: plain.recv(65536))
        error, stdin, stdout, stderr = (
            client.open(streamtype=name) for name in ("error", "stdin", "stdout", "stderr")
        )
        client.write(stdin, b"hello", fin=True)
        client.until(lambda: {error, stdout, stderr} <= client.ended)

    assert b"X-Stream-Protocol-Version: v4.channel.k8s.io" in head
    assert client.came[stdout] == b"hello"
    assert json.loads(client.came[error])["status"] == "Success"

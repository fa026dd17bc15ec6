"""Forwarded ports, in SPDY tunnelled or plain, and in channels."""

from __future__ import annotations

import gc
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest
from tests.nodes.kubelet.streams.conftest import Kubelet
from tests.nodes.kubelet.streams.spdy_client import SpdyClient

TUNNEL = "SPDY/3.1+portforward.k8s.io"
PATH = "/portForward/default/p"


@pytest.fixture
def echo() -> Iterator[int]:
    """A port where all that comes is sent back, then a word of goodbye."""
    listener = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []
    accepted: list[socket.socket] = []

    def answer(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            while data := connection.recv(65536):
                connection.sendall(data)
            connection.sendall(b"bye")

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            accepted.append(connection)
            threads.append(threading.Thread(target=answer, args=(connection,), daemon=True))
            threads[-1].start()

    accepting = threading.Thread(target=accept, daemon=True)
    accepting.start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    accepting.join(10)
    for connection in accepted:
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
    for thread in threads:
        thread.join(10)


def tunnel(kubelet: Kubelet) -> SpdyClient:
    opened = kubelet.socket(PATH, TUNNEL)
    return SpdyClient(opened.send_binary, lambda: opened.recv() or b"")  # type: ignore[arg-type]


def pair(client: SpdyClient, port: int, request: str) -> tuple[int, int]:
    error = client.open(fin=True, streamtype="error", port=str(port), requestid=request)
    data = client.open(streamtype="data", port=str(port), requestid=request)
    return error, data


def test_connections_are_carried_side_by_side(kubelet: Kubelet, echo: int) -> None:
    kubelet.runtime.add("p")
    client = tunnel(kubelet)
    _, first = pair(client, echo, "0")
    _, second = pair(client, echo, "1")
    client.write(second, b"two")
    client.write(first, b"one")
    client.until(lambda: client.came[first] == b"one" and client.came[second] == b"two")

    client.write(first, fin=True)
    client.until(lambda: first in client.ended)

    assert client.came[first] == b"onebye"
    assert second not in client.ended
    assert {first, second} <= client.replied


def test_much_is_carried_whole(kubelet: Kubelet, echo: int) -> None:
    kubelet.runtime.add("p")
    client = tunnel(kubelet)
    _, data = pair(client, echo, "0")
    piece = bytes(range(256)) * 128
    for _ in range(64):
        client.write(data, piece)
    client.write(data, fin=True)

    client.until(lambda: data in client.ended)

    assert client.came[data] == piece * 64 + b"bye"


def test_stopping_closes_what_is_forwarded(kubelet: Kubelet, echo: int) -> None:
    kubelet.runtime.add("p")
    client = tunnel(kubelet)
    _, data = pair(client, echo, "0")
    client.write(data, b"one")
    client.until(lambda: client.came[data] == b"one")

    kubelet.stop()

    gc.collect()  # it would be warned of a connection that is left open


def test_a_port_where_nobody_listens_is_told(kubelet: Kubelet) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    kubelet.runtime.add("p")
    client = tunnel(kubelet)
    error, data = pair(client, port, "0")

    client.until(lambda: {error, data} <= client.ended)

    told = client.came[error].decode()
    assert told.startswith(f"error forwarding port {port} to pod uid-p, uid : ")
    assert told.endswith("connect: connection refused")


def test_pings_are_answered_and_nonsense_is_reset(kubelet: Kubelet, echo: int) -> None:
    kubelet.runtime.add("p")
    client = tunnel(kubelet)
    client.ping()
    odd = client.open(streamtype="data", port="no", requestid="0")

    client.until(lambda: bool(client.pings) and odd in client.ended)

    assert client.pings == [struct.pack(">I", 77)]


def test_plain_spdy_is_spoken_too(kubelet: Kubelet, echo: int) -> None:
    kubelet.runtime.add("p")
    with socket.create_connection(("127.0.0.1", kubelet.port), timeout=10) as plain:
        plain.sendall(
            f"POST {PATH} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"
            "X-Stream-Protocol-Version: portforward.k8s.io\r\n\r\n".encode()
        )
        head = b""
        while b"\r\n\r\n" not in head:
            head += plain.recv(1)
        assert head.startswith(b"HTTP/1.1 101 ")
        client = SpdyClient(plain.sendall, lambda: plain.recv(65536))
        _, data = pair(client, echo, "0")
        client.write(data, b"x", fin=True)
        client.until(lambda: data in client.ended)

    assert client.came[data] == b"xbye"


def test_rubbish_ends_the_connection(kubelet: Kubelet) -> None:
    kubelet.runtime.add("p")
    opened = kubelet.socket(PATH, TUNNEL)

    opened.send_binary(b"\x80\x09rubbish rubbish")

    assert not opened.recv()


def test_the_older_form_has_two_channels_for_a_port(kubelet: Kubelet, echo: int) -> None:
    kubelet.runtime.add("p")
    opened = kubelet.socket(f"{PATH}?port={echo}", "v4.channel.k8s.io")
    mark = struct.pack("<H", echo)

    assert {opened.recv(), opened.recv()} == {b"\x00" + mark, b"\x01" + mark}
    opened.send_binary(b"\x00hello")

    assert opened.recv() == b"\x00hello"


REFUSED = {
    "an unknown pod": ("/portForward/default/q", 404, b"pod does not exist"),
    "no upgrade": (PATH, 400, b"Upgrade request required"),
}


@pytest.mark.parametrize(("path", "code", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(kubelet: Kubelet, path: str, code: int, words: bytes) -> None:
    kubelet.runtime.add("p")

    assert kubelet.ask("GET", path) == (code, words)

"""Requests that go on to somebody else, and what comes back."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from windtunnel.apiserver.request import Answer, Destination, Outcome, Relay, Request
from windtunnel.machinery.errors import ApiError, BadRequest, ServiceUnavailable

Play = Callable[[socket.socket], None]


@dataclass
class Backend:
    """Somebody who plays one connection."""

    port: int
    heard: list[bytes] = field(default_factory=list)


@pytest.fixture
def backend() -> Iterator[Callable[[Play], Backend]]:
    threads: list[threading.Thread] = []

    def start(play: Play) -> Backend:
        listener = socket.create_server(("127.0.0.1", 0))
        found = Backend(listener.getsockname()[1])

        def run() -> None:
            with listener, listener.accept()[0] as connection:
                connection.settimeout(10)
                found.heard.append(read_head(connection))
                with suppress(OSError):
                    play(connection)

        threads.append(threading.Thread(target=run))
        threads[-1].start()
        return found

    yield start
    for thread in threads:
        thread.join(10)


def read_head(connection: socket.socket) -> bytes:
    head = b""
    while b"\r\n\r\n" not in head:
        head += connection.recv(1)
    return head


def relay(port: int, *, upgrade: bool = False, **how: Any) -> Callable[[Request], Outcome]:
    def handle(_: Request) -> Outcome:
        return Relay(
            destination=Destination("127.0.0.1", port, secure=False),
            target="/there?x=1",
            upgrade=upgrade,
            unreachable=ServiceUnavailable,
            **how,
        )

    return handle


def test_an_answer_is_passed_on_as_it_comes(serve: Any, backend: Any) -> None:
    def play(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Own: 1\r\n\r\n")
        connection.sendall(b"3\r\nabc\r\n")
        assert connection.recv(1) == b""  # he has read what came, and leaves

    behind = backend(play)
    served = serve(relay(behind.port, content_type="text/plain"))
    response = served.watch("/here")

    assert (response.status, response.read(3)) == (200, b"abc")
    assert response.headers["X-Own"] == "1"
    assert response.headers["Content-Type"] == "text/plain"
    response.close()
    served.connections[-1].close()


def test_credentials_stay_here_and_the_rest_goes_on(serve: Any, backend: Any) -> None:
    behind = backend(lambda connection: connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n"))
    headers = {"Authorization": "Bearer x", "Impersonate-User": "u", "X-Mine": "y"}

    got = serve(relay(behind.port)).ask("POST", "/here", b"body", headers)

    head = behind.heard[0].lower()
    assert got.status == 204
    assert head.startswith(b"post /there?x=1 http/1.1\r\n")
    assert b"x-mine: y\r\n" in head
    assert b"content-length: 4\r\n" in head
    assert b"bearer" not in head
    assert b"impersonate" not in head


def test_an_error_may_be_told_in_other_words(serve: Any, backend: Any) -> None:
    def play(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 400 Bad\r\nContent-Length: 3\r\n\r\nwhy")

    def refused(status: int, text: str) -> ApiError:
        return BadRequest(f"{status} {text}")

    got = serve(relay(backend(play).port, refused=refused)).ask("GET", "/here")

    assert (got.status, b'"message":"400 why"' in got.body) == (400, True)


def test_nobody_there_is_told(serve: Any, unused_port: int) -> None:
    served = serve(relay(unused_port))

    got = served.ask("GET", "/here")

    words = f"dial tcp 127.0.0.1:{unused_port}: connect: connection refused"
    assert (got.status, words in got.body.decode()) == (503, True)
    assert served.crashes == []


def test_who_hangs_up_without_a_word_is_told(serve: Any, backend: Any) -> None:
    got = serve(relay(backend(lambda connection: None).port)).ask("GET", "/here")

    assert (got.status, b"EOF" in got.body) == (503, True)


UPGRADE = b"GET /here HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: own\r\n\r\n"


def test_an_upgrade_joins_the_two_connections(serve: Any, backend: Any) -> None:
    big = bytes(range(256)) * 4096

    def play(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: own\r\n\r\n")
        while data := connection.recv(65536):
            connection.sendall(data)
        connection.sendall(b"bye")

    served = serve(relay(backend(play).port, upgrade=True))
    with socket.create_connection(("127.0.0.1", served.port), timeout=10) as client:
        client.sendall(UPGRADE + b"early")
        assert read_head(client).startswith(b"HTTP/1.1 101 ")
        writer = threading.Thread(target=lambda: (client.sendall(big), client.shutdown(1)))
        writer.start()
        came = b""
        while data := client.recv(65536):
            came += data
        writer.join()

    assert came == b"early" + big + b"bye"


def test_a_refused_upgrade_is_refused_to_the_client(serve: Any, backend: Any) -> None:
    def play(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 500 No\r\nContent-Length: 3\r\n\r\nwhy")

    served = serve(relay(backend(play).port, upgrade=True))
    with socket.create_connection(("127.0.0.1", served.port), timeout=10) as client:
        client.sendall(UPGRADE)
        assert read_head(client).startswith(b"HTTP/1.1 500 ")
        assert client.recv(3) == b"why"


def test_after_an_upgrade_that_was_answered_the_connection_goes_on(serve: Any) -> None:
    served = serve(lambda request: Answer(200, request.path.encode()))
    with socket.create_connection(("127.0.0.1", served.port), timeout=10) as client:
        client.sendall(UPGRADE + b"GET /next HTTP/1.1\r\nHost: x\r\n\r\n")
        first = read_head(client) + client.recv(5)
        second = read_head(client) + client.recv(5)

    assert first.endswith(b"/here")
    assert second.endswith(b"/next")


def test_stopping_ends_what_is_joined(serve: Any, backend: Any) -> None:
    def play(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
        assert connection.recv(1) == b""

    served = serve(relay(backend(play).port, upgrade=True))
    with socket.create_connection(("127.0.0.1", served.port), timeout=10) as client:
        client.sendall(UPGRADE)
        read_head(client)
        served.stop()
        assert client.recv(1) == b""

"""Tests of HTTP for agents."""

from __future__ import annotations

import http.client
from collections.abc import Iterator

import pytest

from windtunnel.gpu.http_server import HttpReply, HttpServer, NoPort


def echo(path: str) -> HttpReply:
    return HttpReply(307 if path == "/old" else 200, path.encode(), "text/plain", "/new")


@pytest.fixture
def server() -> Iterator[HttpServer]:
    server = HttpServer("127.0.0.1", 0, echo)
    server.start()
    yield server
    server.stop()


def ask(server: HttpServer, path: str, method: str = "GET") -> tuple[int, str | None, bytes]:
    wire = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    wire.request(method, path, body=b"x" if method == "POST" else None)
    answer = wire.getresponse()
    found = answer.status, answer.getheader("Location"), answer.read()
    wire.close()
    return found


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "BREW"])
def test_any_method_is_answered_by_the_path(server: HttpServer, method: str) -> None:
    assert ask(server, "/some/path?x=y", method) == (200, "/new", b"/some/path")


def test_who_asks_for_the_head_gets_no_body(server: HttpServer) -> None:
    assert ask(server, "/old", "HEAD") == (307, "/new", b"")


def test_a_port_that_is_taken_is_named(server: HttpServer) -> None:
    words = rf"cannot listen at 127\.0\.0\.1:{server.port}: address already in use"

    with pytest.raises(NoPort, match=words):
        HttpServer("127.0.0.1", server.port, echo).start()


def test_one_that_was_stopped_listens_nowhere(server: HttpServer) -> None:
    server.stop()

    assert server.port == 0

"""Asking over the network; the words are Go's."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from windtunnel.nodes.kubelet.probes.asking import ask_http, ask_tcp
from windtunnel.nodes.kubelet.probes.targets import HttpTarget


class Replying(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(int(self.path[1:]))
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def port() -> Iterator[int]:
    server = HTTPServer(("127.42.0.9", 0), Replying)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def free_port() -> int:
    with closing(socket.create_server(("127.42.0.9", 0))) as listener:
        number: int = listener.getsockname()[1]
        return number


@pytest.mark.parametrize(("status", "healthy"), [(200, True), (302, True), (404, False)])
def test_an_answer_from_200_to_399_is_healthy(port: int, status: int, healthy: bool) -> None:
    answer = ask_http(HttpTarget("http", "10.42.0.9", port, f"/{status}"), 5)

    assert answer.healthy is healthy
    if not healthy:
        assert answer.text == f"HTTP probe failed with statuscode: {status}"


def test_nobody_there_is_told_as_go_tells_it() -> None:
    number = free_port()
    refused = f"dial tcp 10.42.0.9:{number}: connect: connection refused"

    assert ask_tcp("10.42.0.9", number, 5).text == refused
    told = ask_http(HttpTarget("http", "10.42.0.9", number, "/z"), 5).text
    assert told == f'Get "http://10.42.0.9:{number}/z": {refused}'


def test_a_port_that_is_open_is_healthy(port: int) -> None:
    assert ask_tcp("10.42.0.9", port, 5).healthy

"""Asking over the network; the words are Go's."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from windtunnel.nodes.kubelet.probes.asking import ProbeReply, ask_http, ask_tcp
from windtunnel.nodes.kubelet.probes.targets import HttpTarget


class Replying(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status, _, place = self.path[1:].partition("?")
        if self.path == "/302":
            place = self.path
        self.send_response(int(status))
        if place:
            self.send_header("Location", place)
        self.end_headers()
        self.wfile.write(self.headers["User-Agent"].encode())

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


@pytest.mark.parametrize(("status", "healthy"), [(200, True), (304, True), (404, False)])
def test_an_answer_from_200_to_399_is_healthy(port: int, status: int, healthy: bool) -> None:
    answer = ask_http(HttpTarget("http", "10.42.0.9", port, f"/{status}"), 5)

    assert answer.healthy is healthy
    assert answer.answered
    if not healthy:
        assert answer.text == f"HTTP probe failed with statuscode: {status}"


REDIRECTIONS = {
    "to the same host it is followed": ("/302?/200", ProbeReply(True, "kube-probe/1.36")),
    "what follows decides": (
        "/307?/404", ProbeReply(False, "HTTP probe failed with statuscode: 404"),
    ),
    "to another host it is doubtful": (
        "/301?http://elsewhere.test/",
        ProbeReply(
            True, "Probe terminated redirects, Response body: kube-probe/1.36", doubtful=True
        ),
    ),
    "to nowhere it is doubtful": (
        "/304",
        ProbeReply(True, "Probe terminated redirects, Response body: ", doubtful=True),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("path", "want"), REDIRECTIONS.values(), ids=REDIRECTIONS.keys())
def test_a_redirection(port: int, path: str, want: ProbeReply) -> None:
    assert ask_http(HttpTarget("http", "10.42.0.9", port, path), 5) == want


def test_a_redirection_without_end_is_a_failure(port: int) -> None:
    answer = ask_http(HttpTarget("http", "10.42.0.9", port, "/302"), 5)

    assert not answer.healthy
    assert answer.text == f'Get "http://10.42.0.9:{port}/302": stopped after 10 redirects'


def test_nobody_there_is_told_as_go_tells_it() -> None:
    number = free_port()
    refused = f"dial tcp 10.42.0.9:{number}: connect: connection refused"

    assert ask_tcp("10.42.0.9", number, 5).text == refused
    told = ask_http(HttpTarget("http", "10.42.0.9", number, "/z"), 5).text
    assert told == f'Get "http://10.42.0.9:{number}/z": {refused}'


def test_a_port_that_is_open_is_healthy(port: int) -> None:
    assert ask_tcp("10.42.0.9", port, 5).healthy

"""Calls to webhooks: the reply, or in words why there is none."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from windtunnel.apiserver.edge.asks import Asks, call
from windtunnel.home.certificates import Keyring, provide
from windtunnel.kernel import WallClock
from windtunnel.machinery.admission import Ask, Reply


class Hook(BaseHTTPRequestHandler):
    """Answers with what it got; /broken answers 500."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(500 if self.path.startswith("/broken") else 200)
        self.end_headers()
        self.wfile.write(f"{self.path} {self.headers['Content-Type']} ".encode() + body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keyring:
    return provide(tmp_path_factory.mktemp("keys"), WallClock().now(), "10.96.0.1")


def listen(context: ssl.SSLContext | None) -> Iterator[int]:
    server = HTTPServer(("127.0.0.1", 0), Hook)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def plain_hook() -> Iterator[int]:
    yield from listen(None)


@pytest.fixture
def tls_hook(keys: Keyring) -> Iterator[int]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(keys.server, keys.server_key)
    yield from listen(context)


def test_the_body_goes_out_and_the_reply_comes_back(plain_hook: int) -> None:
    reply = call(Ask("k", f"http://127.0.0.1:{plain_hook}/check?timeout=5s", b"review"))

    assert reply == Reply(200, b"/check?timeout=5s application/json review")


def test_an_answer_of_failure_is_a_reply(plain_hook: int) -> None:
    assert call(Ask("k", f"http://127.0.0.1:{plain_hook}/broken", b"")).status == 500


def test_a_service_proves_its_own_name_at_whatever_address(tls_hook: int, keys: Keyring) -> None:
    authority = keys.authority.read_bytes()
    url = f"https://127.0.0.1:{tls_hook}/"

    named = call(Ask("k", url, b"x", ca=authority, server_name="kubernetes.default.svc"))
    other = call(Ask("k", url, b"x", ca=authority, server_name="hook.other.svc"))

    assert named.status == 200
    assert named.error == ""
    assert other.error.startswith("tls: failed to verify certificate: ")


def test_an_unknown_authority_is_refused(tls_hook: int) -> None:
    reply = call(Ask("k", f"https://127.0.0.1:{tls_hook}/", b"x"))

    assert reply.error.startswith("tls: failed to verify certificate: ")


def test_nobody_there_is_said_in_words(unused_port: int) -> None:
    reply = call(Ask("k", f"https://127.0.0.1:{unused_port}/", b"x"))

    assert reply.error == f"dial tcp 127.0.0.1:{unused_port}: connect: connection refused"


def test_silence_ends_with_the_timeout(silent_port: int) -> None:
    reply = call(Ask("k", f"http://127.0.0.1:{silent_port}/", b"x", timeout_seconds=0.05))

    assert reply == Reply(error="context deadline exceeded")


def test_the_whole_call_has_one_timeout(silent_port: int) -> None:
    async def run() -> Reply:
        asks = Asks()
        reply = await asks.reply(
            Ask("k", f"http://127.0.0.1:{silent_port}/", b"x", timeout_seconds=0.05)
        )
        asks.close()
        return reply

    assert asyncio.run(run()).error == "context deadline exceeded"


def test_a_parked_write_gets_its_reply_on_the_loop(plain_hook: int) -> None:
    async def run() -> Reply:
        asks = Asks()
        arrived: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        asks.start(Ask("k", f"http://127.0.0.1:{plain_hook}/", b"x"), arrived.set_result)
        reply = await arrived
        asks.close()
        return reply

    assert asyncio.run(run()).status == 200


def test_a_reply_that_is_too_large_is_cut(plain_hook: int, tmp_path: Path) -> None:
    reply = call(Ask("k", f"http://127.0.0.1:{plain_hook}/", b"x" * 4_000_000))

    assert len(reply.body) == 3 * 1024 * 1024

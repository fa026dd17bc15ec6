"""Client certificates reach the core as names, methods as they were sent."""

from __future__ import annotations

import socket
import ssl
from typing import Any

import pytest

from windtunnel.apiserver.edge import Certificates
from windtunnel.apiserver.request import Answer, Outcome, Request
from windtunnel.home.certificates import Keyring, provide
from windtunnel.kernel import WallClock


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keyring:
    return provide(tmp_path_factory.mktemp("keys"), WallClock().now(), "10.96.0.1")


def names_seen(serve: Any, keys: Keyring, trust: ssl.SSLContext) -> object:
    def handle(request: Request) -> Outcome:
        return Answer(200, repr(request.certificate).encode())

    certificates = Certificates(keys.server, keys.server_key, keys.authority)
    served = serve(handle, None, certificates, trust)
    return served.ask("GET", "/").body.decode()


def test_a_certificate_names_a_user_and_groups(serve: Any, keys: Keyring) -> None:
    trust = ssl.create_default_context(cafile=keys.authority)
    trust.load_cert_chain(keys.admin, keys.admin_key)

    assert names_seen(serve, keys, trust) == "('kubernetes-admin', ('system:masters',))"


def test_without_a_certificate_there_are_no_names(serve: Any, keys: Keyring) -> None:
    trust = ssl.create_default_context(cafile=keys.authority)

    assert names_seen(serve, keys, trust) == "None"


def test_a_certificate_of_a_foreign_authority_gets_nowhere(
    serve: Any, keys: Keyring, tmp_path_factory: pytest.TempPathFactory
) -> None:
    foreign = provide(tmp_path_factory.mktemp("foreign"), WallClock().now(), "10.96.0.1")
    trust = ssl.create_default_context(cafile=keys.authority)
    trust.load_cert_chain(foreign.admin, foreign.admin_key)

    with pytest.raises(OSError):
        names_seen(serve, keys, trust)


class Played:
    """What the core was asked, and the bytes that a client gets for bytes."""

    def __init__(self, serve: Any) -> None:
        self.requests: list[str] = []
        self._port = serve(self._handle).port

    def _handle(self, request: Request) -> Outcome:
        self.requests.append(f"{request.method} {request.path} {request.body.decode()}".rstrip())
        return Answer(200, b"played")

    def get(self, *pieces: bytes) -> bytes:
        """Send pieces, each when the one before is answered; return all the answers."""
        with socket.create_connection(("127.0.0.1", self._port), timeout=10) as connection:
            for piece in pieces[:-1]:
                connection.sendall(piece)
                connection.recv(65536)
            connection.sendall(pieces[-1])
            connection.shutdown(socket.SHUT_WR)
            with connection.makefile("rb") as answers:
                return answers.read()


HEAD = b" HTTP/1.1\r\nHost: x\r\n"


@pytest.mark.parametrize("method", ["FOO", "foo", "GETS", "M+X", "!"])
def test_a_method_that_nobody_knows_reaches_the_core(serve: Any, method: str) -> None:
    played = Played(serve)
    got = played.get(method.encode() + b" /a" + HEAD + b"Content-Length: 2\r\n\r\nab")

    assert got.startswith(b"HTTP/1.1 200 ")
    assert played.requests == [f"{method} /a ab"]


def test_after_an_unknown_method_the_connection_goes_on(serve: Any) -> None:
    played = Played(serve)
    played.get(*[one + HEAD + b"\r\n" for one in (b"FOO /1", b"GET /2", b"BAR /3", b"GET /4")])

    assert played.requests == ["FOO /1", "GET /2", "BAR /3", "GET /4"]


def test_what_follows_an_unknown_method_at_once_is_played_once(serve: Any) -> None:
    played = Played(serve)
    played.get(b"FOO /1" + HEAD + b"\r\nGET /2" + HEAD + b"\r\n")

    assert played.requests == ["FOO /1", "GET /2"]


@pytest.mark.parametrize(
    "sent",
    [
        b"POST /1" + HEAD + b"Content-Length: 0\r\n\r\nFOO /2" + HEAD + b"\r\n",
        b"FOO /1" + HEAD + b"\r\nBAR /2" + HEAD + b"\r\n",
    ],
)
def test_nothing_before_an_unknown_method_is_played_twice(serve: Any, sent: bytes) -> None:
    played = Played(serve)
    got = played.get(sent)

    assert b"HTTP/1.1 400 " in got
    assert len(played.requests) <= 1


@pytest.mark.parametrize("line", [b"F(O /", b"FOO", b"\x16\x03\x01\x00 /"])
def test_what_is_no_method_is_refused(serve: Any, line: bytes) -> None:
    played = Played(serve)

    assert played.get(line + HEAD + b"\r\n").startswith(b"HTTP/1.1 400 ")
    assert played.requests == []

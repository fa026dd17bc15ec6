"""Requests reach the right server or say why not; over TLS it must prove its name."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from windtunnel.client.connection import Connection
from windtunnel.client.transport import Transport
from windtunnel.errors import ClusterError
from windtunnel.home.signing import Authority, key_of
from windtunnel.kernel import WallClock

NAME = "api.elsewhere.test"


class Greeter(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = f"this is {self.path}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


class Elsewhere:
    """A server on this machine whose certificate bears another name; remembers what it is asked."""

    def __init__(self, folder: Path) -> None:
        start = datetime.fromtimestamp(WallClock().now(), UTC)
        authority, certificate = Authority.make("tests", start), folder / "server.crt"
        authority.keep(folder / "ca.crt")
        authority.certify(certificate, start, "server", names=[NAME])
        self.ca = (folder / "ca.crt").read_bytes()
        self.names: list[str | None] = []
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key_of(certificate))
        context.sni_callback = lambda _socket, name, _context: self.names.append(name)
        self.server = HTTPServer(("127.0.0.1", 0), Greeter)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Elsewhere]:
    found = Elsewhere(tmp_path)
    thread = threading.Thread(target=found.server.serve_forever)
    thread.start()
    yield found
    found.server.shutdown()
    thread.join()
    found.server.server_close()


def ask(connection: Connection) -> tuple[int, bytes]:
    transport = Transport(connection, 10)
    try:
        return transport.carry("GET", "/", None, {})
    finally:
        transport.close()


def test_a_server_is_believed_by_the_name_that_is_asked_for(elsewhere: Elsewhere) -> None:
    connection = Connection(elsewhere.url, ca=elsewhere.ca, tls_server_name=NAME)

    assert ask(connection) == (200, b"this is /")
    assert elsewhere.names == [NAME]


@pytest.mark.parametrize("name", ["", "other.elsewhere.test"])
def test_a_server_of_another_name_is_not_believed(elsewhere: Elsewhere, name: str) -> None:
    connection = Connection(elsewhere.url, ca=elsewhere.ca, tls_server_name=name)

    with pytest.raises(ClusterError, match=f"cannot reach {elsewhere.url}.*certificate verify"):
        ask(connection)


def test_whoever_asks_for_no_proof_still_says_whom_he_means(elsewhere: Elsewhere) -> None:
    connection = Connection(elsewhere.url, tls_server_name=NAME, insecure=True)

    assert ask(connection) == (200, b"this is /")
    assert elsewhere.names == [NAME]


@pytest.mark.parametrize("root", ["/k8s/clusters/c-1", "/k8s/clusters/c-1/"])
def test_a_server_may_be_behind_a_path_of_another(elsewhere: Elsewhere, root: str) -> None:
    connection = Connection(elsewhere.url + root, ca=elsewhere.ca, tls_server_name=NAME)

    assert ask(connection) == (200, b"this is /k8s/clusters/c-1/")


def test_a_connection_that_the_server_closed_is_opened_anew(server: Connection) -> None:
    transport = Transport(server, 10)
    transport.carry("GET", "/version", None, {})
    wire = transport._wire
    assert wire is not None
    assert wire.sock is not None
    wire.sock.shutdown(socket.SHUT_RDWR)

    assert transport.carry("GET", "/version", None, {})[0] == 200
    transport.close()


def test_a_server_that_is_not_there_is_named() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"https://127.0.0.1:{unused.getsockname()[1]}"

        with pytest.raises(ClusterError, match=rf"cannot reach {url}: connection refused"):
            ask(Connection(url, insecure=True))


def test_a_server_with_a_stranger_s_certificate_is_not_believed(server: Connection) -> None:
    with pytest.raises(ClusterError, match="certificate verify failed"):
        ask(Connection(server.server))


def test_credentials_that_are_none_are_named(server: Connection) -> None:
    with pytest.raises(ClusterError, match="cannot use the credentials"):
        Transport(Connection(server.server, ca=b"nonsense"), 10)

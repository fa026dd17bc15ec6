"""Connections that are carried to whoever stands behind a port."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing

import pytest

from windtunnel.nodes.kubelet.carrying import CarriedPort, Carrier, bind

HOST = "127.42.0.5"


@pytest.fixture
def port() -> Iterator[CarriedPort]:
    carrier = Carrier()
    carrier.start()
    bound = bind(HOST, (0,))
    made = CarriedPort(HOST, bound.getsockname()[1], bound, "web")
    carrier.open(made)
    yield made
    carrier.stop([made])


def test_one_who_does_not_answer_gives_way_to_the_next(port: CarriedPort) -> None:
    with closing(socket.create_server((HOST, 0))) as gone:
        nobody = gone.getsockname()[1]
    with closing(socket.create_server((HOST, 0))) as behind:
        behind.settimeout(10)
        port.backends = [(HOST, nobody), (HOST, behind.getsockname()[1])]
        for _ in range(2):
            with closing(socket.create_connection((port.host, port.port), timeout=10)) as asked:
                asked.sendall(b"who")
                there, _ = behind.accept()
                with closing(there):
                    assert there.recv(3) == b"who"


def test_nobody_behind_a_port_ends_the_connection(port: CarriedPort) -> None:
    with closing(socket.create_connection((port.host, port.port), timeout=10)) as asked:
        assert asked.recv(1) == b""


def test_the_first_port_that_can_be_had_is_bound() -> None:
    with closing(socket.create_server((HOST, 0))) as taken:
        wanted = taken.getsockname()[1]
        with closing(bind(HOST, (wanted, 0))) as bound:
            assert bound.getsockname()[1] != wanted
        with pytest.raises(OSError):
            bind("192.0.2.1", (0,))


def test_one_that_never_started_stops() -> None:
    Carrier().stop([])

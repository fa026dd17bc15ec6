"""Tests of the topology server over HTTP."""

from __future__ import annotations

import http.client
from collections.abc import Iterator

import pytest

from windtunnel.errors import ClusterError, WindtunnelError
from windtunnel.gpu.topology_server import Settings, TopologyServer
from windtunnel.machinery.tree import Key, Tree


class ConfigMaps:
    """A client that knows one ConfigMap, or is cut off."""

    lost = False

    def get(self, resource: str, key: Key) -> Tree | None:
        if self.lost:
            raise ClusterError("cannot reach it")
        found = {"data": {"topology.yml": "gpuMemory: 5\n"}}
        return found if key == Key("gpu", "topology-n") else None


@pytest.fixture
def client() -> ConfigMaps:
    return ConfigMaps()


@pytest.fixture
def server(client: ConfigMaps) -> Iterator[TopologyServer]:
    settings = Settings(topology_namespace="gpu", host="127.0.0.1", port=0)
    server = TopologyServer(client, settings)  # type: ignore[arg-type]
    server.start()
    yield server
    server.stop()


def ask(server: TopologyServer, path: str, method: str = "GET") -> tuple[int, bytes]:
    wire = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    wire.request(method, path, body=b"x" if method == "POST" else None)
    answer = wire.getresponse()
    found = answer.status, answer.read()
    wire.close()
    return found


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "BREW"])
def test_any_method_is_answered(server: TopologyServer, method: str) -> None:
    status, body = ask(server, "/topology/nodes/n?x=y", method)

    assert (status, b'"GpuMemory":5' in body) == (200, True)


def test_a_lost_api_server_is_said(server: TopologyServer, client: ConfigMaps) -> None:
    client.lost = True

    assert ask(server, "/topology") == (500, b"cannot reach it")


def test_a_port_that_is_taken_is_named(server: TopologyServer, client: ConfigMaps) -> None:
    settings = Settings(host="127.0.0.1", port=server.port)

    with pytest.raises(WindtunnelError, match=rf"cannot listen on 127\.0\.0\.1:{server.port}"):
        TopologyServer(client, settings).start()  # type: ignore[arg-type]

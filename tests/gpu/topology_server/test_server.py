"""Tests of the topology server over HTTP."""

from __future__ import annotations

import http.client
from collections.abc import Iterator

import pytest

from windtunnel.errors import ClusterError
from windtunnel.gpu.http_server import HttpServer
from windtunnel.gpu.topology_server import Settings, topology_server
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
def server(client: ConfigMaps) -> Iterator[HttpServer]:
    settings = Settings(topology_namespace="gpu", host="127.0.0.1", port=0)
    server = topology_server(client, settings)  # type: ignore[arg-type]
    server.start()
    yield server
    server.stop()


def ask(server: HttpServer, path: str) -> tuple[int, bytes]:
    wire = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    wire.request("GET", path)
    answer = wire.getresponse()
    found = answer.status, answer.read()
    wire.close()
    return found


def test_a_document_is_read_from_the_api(server: HttpServer) -> None:
    status, body = ask(server, "/topology/nodes/n?x=y")

    assert (status, b'"GpuMemory":5' in body) == (200, True)


def test_a_lost_api_server_is_said(server: HttpServer, client: ConfigMaps) -> None:
    client.lost = True

    assert ask(server, "/topology") == (500, b"cannot reach it")

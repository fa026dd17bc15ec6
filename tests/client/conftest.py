"""A real server to talk to: one for all tests of the client, each in a namespace of its own."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from windtunnel.assembly.state import Folder
from windtunnel.client import kubeconfig
from windtunnel.client.connection import Connection
from windtunnel.client.http import HttpClient

_numbers = itertools.count()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """An API server in memory, without scheduler, controllers and nodes."""
    root: Path = tmp_path_factory.mktemp("server")
    windtunnel = [sys.executable, "-m", "windtunnel"]
    environment = dict(os.environ, WINDTUNNEL_HOME=str(root), KUBECONFIG=str(root / "kubeconfig"))
    subprocess.run(
        [*windtunnel, "up", "--detach", "--ephemeral", "--without", "scheduler,controllers,nodes"],
        env=environment,
        check=True,
        capture_output=True,
    )
    yield kubeconfig.connection(Folder("default", root).kubeconfig)
    subprocess.run([*windtunnel, "down"], env=environment, check=True, capture_output=True)


@pytest.fixture
def http_client(server: Connection) -> Iterator[HttpClient]:
    client = HttpClient(server, "tests")
    yield client
    client.close()


@pytest.fixture
def namespace(http_client: HttpClient) -> str:
    """A namespace of the test's own, with the service account that pods need."""
    name = f"n{next(_numbers)}"
    http_client.create("namespaces", {"metadata": {"name": name}})
    http_client.create("serviceaccounts", {"metadata": {"name": "default", "namespace": name}})
    return name

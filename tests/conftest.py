"""What all tests share: how properties are searched, the recorded answers, a server to talk to."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from windtunnel.client import kubeconfig
from windtunnel.client.connection import Connection
from windtunnel.client.http import HttpClient
from windtunnel.home import Folder

# The same examples every time, and no verdict on speed: machines that run tests are busy.
settings.register_profile(
    "house", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("long", settings.get_profile("house"), max_examples=2000)
settings.load_profile("house")

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder ``../shared``; tests that need it are skipped where it is not."""
    if not SHARED.is_dir():
        pytest.skip("needs ../shared (recorded answers beside the project)")
    return SHARED


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

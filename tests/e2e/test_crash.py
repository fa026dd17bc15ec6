"""Whatever happens to a server or its disk, nothing that it has acknowledged is lost."""

from __future__ import annotations

import contextlib
import resource
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path

import pytest

from tests.e2e.conftest import Home
from windtunnel.client import Client
from windtunnel.errors import WindtunnelError
from windtunnel.machinery.errors import ApiError

pytestmark = pytest.mark.real

ROOT = Path(__file__).resolve().parents[2]
ALONE = ("--without", "scheduler,controllers,nodes")


def test_kills_under_writers_lose_nothing() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "crash.py", "--kills", "5", "--writers", "4"],
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def closing() -> Iterator[contextlib.ExitStack]:
    with contextlib.ExitStack() as stack:
        yield stack


def test_a_full_disk_stops_the_cluster_in_a_sentence_and_loses_nothing(
    home: Home, closing: contextlib.ExitStack
) -> None:
    server = home.start("up", *ALONE)
    assert server.stderr is not None
    assert "is up at" in server.stderr.readline() + server.stderr.readline()
    client = closing.enter_context(contextlib.closing(home.client()))
    _, unlimited = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (2_000_000, unlimited))

    acknowledged = fill(client)

    _, said = server.communicate(timeout=30)
    assert server.returncode == 3
    assert said.splitlines()[-1].startswith(
        "windtunnel: The cluster stops: its state could not be written to disk"
    )
    assert "Traceback" not in said

    home.run("up", "--detach", *ALONE)
    again = closing.enter_context(contextlib.closing(home.client()))
    kept = {tree["metadata"]["name"] for tree in again.list("configmaps", "default")}
    assert acknowledged
    assert set(acknowledged) <= kept


def fill(client: Client) -> list[str]:
    """Write until the server is gone; return what it has acknowledged."""
    acknowledged: list[str] = []
    while True:
        name = f"m{len(acknowledged):04d}"
        config_map = {
            "metadata": {"name": name, "namespace": "default"},
            "data": {"filler": "x" * 20_000},
        }
        try:
            client.create("configmaps", config_map)
        except (ApiError, OSError, HTTPException, WindtunnelError):
            return acknowledged
        acknowledged.append(name)

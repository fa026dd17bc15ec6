"""Whatever part of a cluster is killed, the cluster heals and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e import programs
from tests.e2e.conftest import Home, Kubectl

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]

Up = Callable[..., Home]
TWO_GPUS = r"jsonpath={.status.allocatable.nvidia\.com/gpu}=2"
KILLS = Path(__file__).resolve().parents[2] / "benchmarks" / "kills.py"


@pytest.mark.parametrize("moments", ["installation,gpu-1", "full,upgrade,deletion"])
def test_a_cluster_heals_from_the_kill_of_any_part(tmp_path: Path, moments: str) -> None:
    done = subprocess.run(
        [
            *(sys.executable, str(KILLS), "--short", "--moments", moments),
            *("--home", str(tmp_path / "home")),
            *("--kubectl", str(programs.kubectl()), "--helm", str(programs.helm())),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=580,
    )

    assert done.returncode == 0, done.stdout + done.stderr


def test_down_clears_away_what_a_killed_server_has_left(home: Home) -> None:
    server = home.start("up", "--port", "0")
    assert server.stderr is not None
    assert "is up at" in server.stderr.readline() + server.stderr.readline()
    link = home.folder().node / "root/var/lib/kubelet/device-plugins"
    wait_for(link)
    sockets = link.readlink()
    server.kill()
    server.wait()

    said = home.run("down").stdout

    assert "had died; what it left behind is cleared away" in said
    assert not sockets.exists()
    assert not (home.folder().node / "containers").exists()


def wait_for(link: Path) -> None:
    """Wait until a link leads somewhere."""
    subprocess.run(
        ["sh", "-c", 'until [ -e "$0" ]; do sleep 0.1; done', str(link)], check=True, timeout=30
    )


def test_two_clusters_with_nodes_live_side_by_side(up: Up, kubectl: Kubectl) -> None:
    for name in ("a", "b"):
        home = up("--name", name, "--ephemeral", "--port", "0", kubelet=True)
    networks = {(home.folder(name).node / "network").read_text() for name in ("a", "b")}
    assert len(networks) == 2

    for name in ("a", "b"):
        context = ("--context", f"windtunnel-{name}")
        kubectl(*context, "wait", "--for=create", "node/node-0", "--timeout=30s")
        kubectl(*context, "wait", "node/node-0", f"--for={TWO_GPUS}", "--timeout=60s")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can hide a program from a process")
def test_the_operator_runs_where_the_machine_allows_no_namespaces(
    home: Home, kubectl: Kubectl
) -> None:
    hidden = 'mount --bind /bin/false /usr/bin/unshare && exec "$@"'
    command = [sys.executable, "-m", "windtunnel", "up", "--ephemeral", "--port", "0", "--detach"]
    up = subprocess.run(
        ["unshare", "--mount", "sh", "-c", hidden, "sh", *command],
        env=home.environment,
        cwd=home.path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert up.returncode == 0, up.stderr

    kubectl("wait", "--for=create", "node/node-0", "--timeout=30s")
    kubectl("wait", "node/node-0", "--for=condition=ContainersIsolated=False", "--timeout=30s")
    kubectl("wait", "node/node-0", f"--for={TWO_GPUS}", "--timeout=60s")
    assert "ContainersNotIsolated" in kubectl("get", "events")

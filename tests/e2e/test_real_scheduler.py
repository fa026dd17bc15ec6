"""The real kube-scheduler places pods on our API server, with ours off."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e import programs
from tests.e2e.conftest import Home, Kubectl

pytestmark = [pytest.mark.real, pytest.mark.go]

Up = Callable[..., Home]


@pytest.fixture
def scheduled(up: Up) -> Iterator[Home]:
    """A cluster without our scheduler, and the real one beside it."""
    program = programs.built("kube-scheduler")
    home = up("--ephemeral", "--without", "scheduler", "--nodes", "h100:2x8")
    log = (home.path / "kube-scheduler.log").open("w")
    scheduler = subprocess.Popen(
        [str(program), "--kubeconfig", str(home.folder().kubeconfig),
         "--leader-elect=false", "--secure-port=0"],
        stdout=log,
        stderr=log,
    )  # fmt: skip
    yield home
    scheduler.terminate()
    scheduler.wait(timeout=20)
    log.close()


def pod(name: str, gpus: int) -> str:
    return (
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  containers:\n"
        f"  - {{name: c, image: x, resources: {{limits: {{nvidia.com/gpu: '{gpus}'}}}}}}\n"
    )


def test_the_real_scheduler_places_and_refuses(
    scheduled: Home, kubectl: Kubectl, tmp_path: Path
) -> None:
    names = [f"p{n}" for n in range(3)]
    for name in names:
        kubectl("create", "-f", "-", stdin=pod(name, 4))
    kubectl("create", "-f", "-", stdin=pod("large", 16))

    kubectl("wait", "--for=condition=Ready", *(f"pod/{n}" for n in names), "--timeout=30s")
    kubectl("wait", "--for=condition=PodScheduled=false", "pod/large", "--timeout=30s")

    message = kubectl("get", "pod", "large", "-o", "jsonpath={.status.conditions[0].message}")
    assert message.startswith("0/2 nodes are available: 2 Insufficient nvidia.com/gpu.")
    assert "Preemption is not helpful for scheduling" in message

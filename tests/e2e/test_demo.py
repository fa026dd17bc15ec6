"""The demo does what it says, leaves nothing behind, and can be kept."""

from __future__ import annotations

import json

import pytest

from tests.e2e.conftest import Home

pytestmark = pytest.mark.real


def test_the_demo_shows_the_main_things_and_clears_up(home: Home) -> None:
    done = home.run("demo")

    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for text in (
        "A cluster with 7 played GPU nodes and one that runs containers",
        "Helm value               topology.nodePools.default.gpuCount = 2",
        "ConfigMap topology       pool default: 2 × Tesla-K80",
        "allocatable              nvidia.com/gpu = 2 on node-0",
        "Allocate                 pod gpu-1 was given GPU-",
        "| NVIDIA-SMI ",
        "too-large: 0/8 nodes are available: ",
        "Preemption is not helpful for scheduling.",
        "waits: 0/8 nodes are available: ",
        "No preemption victims found for incoming pod",
        "urgent runs on h100-",
        "evicted for it: training-",
        "ALLOCATABLE",
        "windtunnel demo --keep",
    ):
        assert text in done.stdout, done.stdout
    assert json.loads(home.run("list", "-o", "json").stdout) == []
    assert not home.kubeconfig.exists()


def test_a_kept_demo_can_be_looked_at(home: Home) -> None:
    done = home.run("demo", "--keep")
    assert done.returncode == 0, done.stderr

    ledger = json.loads(home.run("ledger", "--name", "demo", "-o", "json").stdout)
    assert ledger["allocatable_total"] == 42
    assert home.run("down", "--name", "demo", "--purge").returncode == 0

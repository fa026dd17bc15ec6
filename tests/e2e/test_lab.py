"""The lab, walked by script with the real kubectl and helm; what it writes is judged here."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e import programs
from tests.e2e.conftest import Helm, Home, Kubectl
from windtunnel.gpu.chart import CHART

pytestmark = [pytest.mark.real, pytest.mark.timeout(240)]

Up = Callable[..., Home]
WALK = Path(__file__).resolve().parents[2] / "examples" / "lab" / "walk.sh"
OPERATOR = ("-n", "gpu-operator")


def walk(home: Home, *, live: bool, values: Path | None = None) -> Path:
    """Walk the lab on the home's cluster; returns the folder of what was written."""
    out = home.path / "lab"
    told = {
        "OUT": str(out),
        "CHART": str(CHART),
        "LIVE": "yes" if live else "no",
        "KUBECTL": str(programs.kubectl()),
        "HELM": str(programs.helm()),
    }
    if values is not None:
        told["VALUES"] = str(values)
    done = subprocess.run(
        ["sh", str(WALK)],
        env=home.environment | told,
        cwd=home.path,
        capture_output=True,
        text=True,
        check=False,
        timeout=220,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return out


def judge(out: Path, node: str) -> None:
    """Judge the files of the eight steps."""
    assert (out / "advertised.txt").read_text().splitlines() == [
        f"node={node}",
        "capacity=2",
        "allocatable=2",
        "product=Tesla-K80",
    ]

    inside = (out / "inside.txt").read_text()
    assert re.search(r"(?m)^MOCK_NVIDIA_VISIBLE_DEVICES=\S+$", inside)
    assert "| NVIDIA-SMI " in inside
    assert "Tesla-K80" in inside.replace("Tesla K80", "Tesla-K80")

    rules = (out / "rules.txt").read_text()
    assert "must be equal to nvidia.com/gpu limit" in rules
    assert "must be an integer" in rules

    assert (out / "pending.txt").read_text() == (
        "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. no new claims to deallocate, "
        "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.\n"
    )

    report = json.loads((out / "report.json").read_text())
    assert report == {
        "nodes": {node: 4, "gpu-a": 4},
        "allocatable_total": 8,
        "requested": 4,
        "free": 4,
    }


def test_the_lab_is_walked_live(up: Up, kubectl: Kubectl) -> None:
    home = up("--ephemeral", "--port", "0", kubelet=True)

    out = walk(home, live=True)

    judge(out, "node-0")
    ledger = json.loads(home.run("ledger", "-o", "json").stdout)
    assert ledger == json.loads((out / "report.json").read_text())
    assert "Unhealthy" not in kubectl("get", "events", "-A")


def test_the_lab_is_walked_as_the_old_version_teaches_it(
    up: Up, helm: Helm, kubectl: Kubectl
) -> None:
    home = up("--ephemeral", "--port", "0", "--no-operator", kubelet=True)
    install = ("install", "gpu-operator", str(CHART), *OPERATOR, "--create-namespace")
    refused = helm(*install, code=1)
    assert "invalid ownership metadata" in refused
    values = home.path / "compat.yaml"
    values.write_text('compat: "0.2"\n')
    kubectl("wait", "--for=create", "node/node-0", "--timeout=30s")
    kubectl("label", "node", "node-0", "run.ai/simulated-gpu-node-pool=default", "--overwrite")
    helm(*install, "--set", "runtimeClass.enabled=false", "-f", str(values))

    judge(walk(home, live=False, values=values), "node-0")


def test_nothing_is_left_after_the_lab(up: Up, kubectl: Kubectl) -> None:
    home = up("--ephemeral", "--port", "0", kubelet=True)
    for condition in ("create", "condition=Available"):
        kubectl("wait", *OPERATOR, f"--for={condition}", "deploy/topology-server", "--timeout=60s")

    assert home.run("down").returncode == 0

    mine = str(home.path)
    left = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                told = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
            except OSError:
                continue
            if mine.encode() in told:
                left.append(entry.name)
    assert left == []
    assert mine not in Path("/proc/mounts").read_text()

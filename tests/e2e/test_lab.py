"""The lab, walked by script with the real kubectl and helm; what it writes is judged here."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.conftest import Helm, Home, Kubectl
from tests.e2e.lab import judge, walk
from windtunnel.gpu.chart import CHART

pytestmark = [pytest.mark.real, pytest.mark.timeout(240)]

Up = Callable[..., Home]
OPERATOR = ("-n", "gpu-operator")


def test_the_lab_is_walked_live(up: Up, kubectl: Kubectl) -> None:
    home = up("--ephemeral", "--port", "0", kubelet=True)

    out = walk(home.path / "lab", home.environment, live=True)

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

    out = walk(home.path / "lab", home.environment, live=False, values=values)
    judge(out, "node-0")


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

"""The lab as tests walk it: the script under ``examples``, and what its files must say."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.e2e import programs
from windtunnel.gpu.chart import CHART

WALK = Path(__file__).resolve().parents[2] / "examples" / "lab" / "walk.sh"


def walk(
    out: Path,
    environment: Mapping[str, str],
    *,
    live: bool,
    values: Path | None = None,
    patience: int = 60,
) -> Path:
    """Walk the lab on the cluster that KUBECONFIG names; returns the folder of what was written.

    Args:
        out: The folder.
        environment: Where KUBECONFIG is.
        live: Whether the change of step 6 is followed live.
        values: Values of the release, beside the lab's own.
        patience: Seconds to wait for each change.
    """
    told = {
        "OUT": str(out),
        "CHART": str(CHART),
        "LIVE": "yes" if live else "no",
        "PATIENCE": str(patience),
        "KUBECTL": str(programs.kubectl()),
        "HELM": str(programs.helm()),
    }
    if values is not None:
        told["VALUES"] = str(values)
    done = subprocess.run(
        ["sh", str(WALK)],
        env={**environment, **told},
        cwd=out.parent,
        capture_output=True,
        text=True,
        check=False,
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

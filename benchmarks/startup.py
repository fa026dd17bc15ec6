"""How long from process start to the first accepted pod, over TLS, and what an idle server weighs.

The bars: 1.0 s and 150 MiB. Prints the median of several starts and the slowest.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

from windtunnel.client import kubeconfig
from windtunnel.client.http import HttpClient
from windtunnel.home import Folder

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "first", "namespace": "default"},
    "spec": {
        "containers": [
            {"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
        ]
    },
}


def resident_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def once(extra: list[str]) -> tuple[float, float]:
    """Start, create a pod, stop; return seconds and resident MiB after two idle seconds."""
    windtunnel = [sys.executable, "-m", "windtunnel"]
    with tempfile.TemporaryDirectory() as home:
        environment = dict(os.environ, WINDTUNNEL_HOME=home, KUBECONFIG=f"{home}/kubeconfig")
        began = perf_counter()
        subprocess.run(
            [*windtunnel, "up", "--detach", *extra],
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        folder = Folder("default", Path(home))
        HttpClient(kubeconfig.connection(folder.kubeconfig)).create("pods", POD)
        seconds = perf_counter() - began
        process = folder.process()
        assert process is not None
        sleep(2)
        weight = resident_mib(process.pid)
        subprocess.run(
            [*windtunnel, "down"], env=environment, check=True, stdout=subprocess.DEVNULL
        )
    return seconds, weight


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=5)
    chosen = options.parse_args()
    for title, extra in (
        ("in memory", ["--ephemeral"]),
        ("durable", []),
        ("durable, 1,000 nodes", ["--nodes", "pool=h100,count=1000,gpus=8"]),
    ):
        runs = [once(extra) for _ in range(chosen.runs)]
        seconds = [run[0] for run in runs]
        print(
            f"{title:<22} start to first pod {median(seconds):.2f} s "
            f"(slowest {max(seconds):.2f} s), idle {max(run[1] for run in runs):.0f} MiB resident"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""How long from process start to the first accepted pod, over TLS, and what an idle cluster weighs.

A bare cluster shall take its first pod within 1.0 s, and its server weigh 150 MiB at most. One with
a node and the operator shall take it within 1.0 s too, the node have its two GPUs within 5 s, and
all processes weigh 300 MiB at most. Prints the median of several starts and the worst.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, sleep
from typing import Final

from processes import pss_mib, tree

from windtunnel.client import kubeconfig
from windtunnel.client.http import HttpClient
from windtunnel.home import Folder
from windtunnel.machinery.tree import Key, dig

POD: Final = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "first", "namespace": "default"},
    "spec": {
        "containers": [
            {"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
        ]
    },
}
NODE: Final = Key("", "node-0")
BARE: Final = ("--without", "kubelet")
NODES: Final = ("--nodes", "pool=h100,count=1000,gpus=8")
STARTS: Final = {
    "bare, in memory": (*BARE, "--ephemeral"),
    "bare, durable": BARE,
    "bare, durable, 1,000 nodes": (*BARE, *NODES),
    "operated, durable": (),
}
_PATIENCE_SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class Start:
    """What one start was like."""

    first_pod_seconds: float
    gpus_seconds: float
    """Until the node had its two GPUs; 0 where there is no such node."""
    server_mib: float
    """Resident."""
    tree_mib: float
    """Proportional set size of all processes."""


def resident_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def once(extra: tuple[str, ...]) -> Start:
    """Start, create a pod, wait for GPUs where there is to be a node, look at the idle cluster."""
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
        client = HttpClient(kubeconfig.connection(folder.kubeconfig))
        client.create("pods", POD)
        first_pod = perf_counter() - began
        gpus = 0.0
        while "--without" not in extra and not gpus and perf_counter() - began < _PATIENCE_SECONDS:
            if dig(client.get("nodes", NODE), "status", "allocatable", "nvidia.com/gpu") == "2":
                gpus = perf_counter() - began
            sleep(0.02)
        process = folder.process()
        assert process is not None
        sleep(3)
        start = Start(
            first_pod_seconds=first_pod,
            gpus_seconds=gpus,
            server_mib=resident_mib(process.pid),
            tree_mib=sum(pss_mib(pid) for pid in tree(process.pid)),
        )
        subprocess.run(
            [*windtunnel, "down"], env=environment, check=True, stdout=subprocess.DEVNULL
        )
    return start


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=5)
    chosen = options.parse_args()
    for title, extra in STARTS.items():
        runs = [once(extra) for _ in range(chosen.runs)]
        pods = [run.first_pod_seconds for run in runs]
        gpus = [run.gpus_seconds for run in runs]
        lines = [f"start to first pod {median(pods):.2f} s (slowest {max(pods):.2f} s)"]
        if all(gpus):
            lines.append(f"to two GPUs {median(gpus):.2f} s (slowest {max(gpus):.2f} s)")
        elif extra == STARTS["operated, durable"]:
            lines.append(f"no two GPUs within {_PATIENCE_SECONDS} s")
        lines.append(f"idle: server {max(run.server_mib for run in runs):.0f} MiB resident")
        lines.append(f"all processes {max(run.tree_mib for run in runs):.0f} MiB proportional")
        print(f"{title:<28} {', '.join(lines)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Fill 1,000 GPU nodes with 5,000 one-GPU pods, sent by 8 clients written in Go.

The bar: all Running within 15 s of the first request, each with its Scheduled event and an address
of its own, the ledger exactly 5,000, no node over 8; the whole process under 400 MiB.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from windtunnel.client import kubeconfig
from windtunnel.client.http import HttpClient
from windtunnel.devices import take_ledger
from windtunnel.home import Folder

HERE = Path(__file__).resolve().parent
WINDTUNNEL = [sys.executable, "-m", "windtunnel"]


def build(folder: Path) -> Path:
    program = folder / "fill"
    subprocess.run(["go", "build", "-o", str(program), "."], cwd=HERE / "fill", check=True)
    return program


def peak_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_running(client: HttpClient, patience: float) -> float:
    """Return when no pod was left that does not run, in wall time, or when patience ended."""
    query = {"fieldSelector": "status.phase!=Running", "limit": "1"}
    end = time.time() + patience
    while True:
        _, body = client.ask("GET", "/api/v1/namespaces/default/pods", query=query)
        if not json.loads(body)["items"] or time.time() > end:
            return time.time()
        time.sleep(0.1)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--nodes", type=int, default=1000)
    options.add_argument("--pods", type=int, default=5000)
    options.add_argument("--clients", type=int, default=8)
    options.add_argument("--patience", type=float, default=120.0)
    options.add_argument("--ephemeral", action="store_true")
    chosen = options.parse_args()
    if shutil.which("go") is None:
        print("bench-fill needs a Go toolchain, and there is none on PATH")
        return 1
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        program = build(home)
        environment = dict(os.environ, WINDTUNNEL_HOME=name, KUBECONFIG=f"{name}/kubeconfig")
        order = f"pool=h100,count={chosen.nodes},gpus=8"
        extra = ["--ephemeral"] if chosen.ephemeral else []
        subprocess.run(
            [*WINDTUNNEL, "up", "--detach", "--nodes", order, *extra], env=environment, check=True
        )
        folder = Folder("default", home)
        try:
            return measure(chosen, program, folder)
        finally:
            subprocess.run([*WINDTUNNEL, "down"], env=environment, check=True)


def measure(chosen: argparse.Namespace, program: Path, folder: Folder) -> int:
    client = HttpClient(kubeconfig.connection(folder.kubeconfig), timeout_seconds=120)
    process = folder.process()
    assert process is not None
    end = time.time() + 60
    while take_ledger(client.list("nodes"), ()).allocatable_total < 8 * chosen.nodes:
        if time.time() > end:
            print("the nodes did not get their GPUs within 60 s")
            return 1
        time.sleep(0.2)
    spent = cpu_seconds(process.pid)
    done = subprocess.run(
        [str(program), "-kubeconfig", str(folder.kubeconfig),
         "-pods", str(chosen.pods), "-clients", str(chosen.clients)],
        check=True,
        capture_output=True,
        text=True,
    )  # fmt: skip
    sys.stderr.write(done.stderr)
    sent = json.loads(done.stdout)
    moment = wait_running(client, chosen.patience)
    spent = cpu_seconds(process.pid) - spent
    pods, nodes = client.list("pods", "default"), client.list("nodes")
    running = sum(pod["status"].get("phase") == "Running" for pod in pods)
    ledger = take_ledger(nodes, pods)
    addresses = {pod["status"].get("podIP") for pod in pods}
    scheduled = Counter(
        event["involvedObject"]["name"]
        for event in client.list("events", "default")
        if event.get("reason") == "Scheduled"
    )
    took = sent["last"] - sent["first"]
    print(f"accepted {chosen.pods - sent['refused']} pods from {chosen.clients} Go clients in "
          f"{took:.1f} s ({chosen.pods / took:.0f}/s, p50 {sent['p50_ms']:.1f} ms, "
          f"p99 {sent['p99_ms']:.1f} ms)")  # fmt: skip
    print(f"the server spent {spent:.1f} s of CPU until all were Running")
    checks = {
        "all Running within 15 s of the first request": (
            f"{running} Running after {moment - sent['first']:.1f} s",
            running >= chosen.pods and moment - sent["first"] <= 15,
        ),
        "each has its Scheduled event": (
            f"{len(scheduled)} pods with one",
            len(scheduled) == chosen.pods,
        ),
        "each has an address of its own": (
            f"{len(addresses - {None})} addresses",
            None not in addresses and len(addresses) == len(pods),
        ),
        "the ledger is exact": (f"{ledger.requested} GPUs", ledger.requested == chosen.pods),
        "no node is over": (
            f"{max((node.placed for node in ledger.nodes), default=0)} GPUs at most on one",
            all(node.free >= 0 for node in ledger.nodes),
        ),
        "under 400 MiB": (
            f"{peak_mib(process.pid):.0f} MiB at most",
            peak_mib(process.pid) < 400,
        ),
    }
    for what, (found, met) in checks.items():
        print(f"{'ok  ' if met else 'NOT '} {what}: {found}")
    return 0 if all(met for _, met in checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main())

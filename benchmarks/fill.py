"""Fill 1,000 GPU nodes with 5,000 one-GPU pods, sent by 8 clients written in Go.

The bar: all Running within 15 s of the first request, each with its Scheduled event and an address
of its own, the ledger exactly 5,000, no node over 8; the whole process under 400 MiB.

With ``--operated`` a node that runs the fake GPU operator stands beside; all Running within 30 s,
and what the status updater and the exporter say is what the scheduler did.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

from processes import cpu_by_name, pss_mib, tree

from windtunnel.client import kubeconfig
from windtunnel.client.http import HttpClient
from windtunnel.devices import (
    NODE_NAME_LABEL,
    POOL_NAMESPACE,
    TOPOLOGY_KEY,
    parse_node_topology,
    take_ledger,
)
from windtunnel.home import Folder
from windtunnel.machinery.tree import Tree

HERE = Path(__file__).resolve().parent
WINDTUNNEL = [sys.executable, "-m", "windtunnel"]
POOL: Final = "h100"
METRICS: Final = (
    f"/api/v1/namespaces/{POOL_NAMESPACE}/services/nvidia-dcgm-exporter-kwok:9400/proxy/metrics"
)
_OWNER: Final = re.compile(r'^DCGM_FI_DEV_GPU_UTIL{Hostname="([^"]*)".*,pod="(fill-[^"]*)"', re.M)
Checks = dict[str, tuple[str, bool]]
"""What is asked for: (what was found, whether that is it)."""


def build(folder: Path) -> Path:
    program = folder / "fill"
    subprocess.run(["go", "build", "-o", str(program), "."], cwd=HERE / "fill", check=True)
    return program


def peak_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def wait_until(met: Callable[[], bool], patience: float, pause: float = 0.1) -> float | None:
    """Return when something was so, in wall time; None where patience ended before."""
    end = time.time() + patience
    while not met():
        if time.time() > end:
            return None
        time.sleep(pause)
    return time.time()


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--nodes", type=int, default=1000)
    options.add_argument("--pods", type=int, default=5000)
    options.add_argument("--clients", type=int, default=8)
    options.add_argument("--patience", type=float, default=120.0)
    options.add_argument("--ephemeral", action="store_true")
    options.add_argument("--operated", action="store_true")
    chosen = options.parse_args()
    if shutil.which("go") is None:
        print("bench-fill needs a Go toolchain, and there is none on PATH")
        return 1
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        program = build(home)
        environment = dict(os.environ, WINDTUNNEL_HOME=name, KUBECONFIG=f"{name}/kubeconfig")
        order = f"pool={POOL},count={chosen.nodes},gpus=8"
        extra = ["--ephemeral"] if chosen.ephemeral else []
        extra += [] if chosen.operated else ["--without", "kubelet"]
        began = time.time()
        subprocess.run(
            [*WINDTUNNEL, "up", "--detach", "--nodes", order, *extra], env=environment, check=True
        )
        folder = Folder("default", home)
        try:
            fill = Fill(chosen, folder)
            if not fill.stands(began):
                return 1
            return fill.run(program)
        finally:
            subprocess.run([*WINDTUNNEL, "down"], env=environment, check=True)


class Fill:
    """One cluster that is filled."""

    def __init__(self, chosen: argparse.Namespace, folder: Folder) -> None:
        self._chosen, self._folder = chosen, folder
        self._client = HttpClient(kubeconfig.connection(folder.kubeconfig), timeout_seconds=120)
        process = folder.process()
        assert process is not None
        self._server = process.pid

    def stands(self, began: float) -> bool:
        """Wait until every node has its GPUs, and the operator has told of all of them."""
        gpus = 8 * self._chosen.nodes
        found = wait_until(
            lambda: take_ledger(self._client.list("nodes"), ()).allocatable_total >= gpus, 60
        )
        if found is not None and self._chosen.operated:
            found = wait_until(lambda: self._metrics().count("GPU_UTIL{") >= gpus, 180, 1.0)
        if found is None:
            print("the nodes did not get their GPUs within 180 s, or nobody told of them")
            return False
        print(f"{self._chosen.nodes} nodes stand after {found - began:.1f} s")
        # What else there is to say at the start is said, too: labels follow after some seconds.
        time.sleep(8 if self._chosen.operated else 0)
        return True

    def run(self, program: Path) -> int:
        """Fill the cluster, wait, judge."""
        chosen, client = self._chosen, self._client
        before, revision = cpu_by_name(self._server), self._revision()
        done = subprocess.run(
            [str(program), "-kubeconfig", str(self._folder.kubeconfig),
             "-pool", POOL if chosen.operated else "",  # node-0 has GPUs, too
             "-pods", str(chosen.pods), "-clients", str(chosen.clients)],
            check=True,
            capture_output=True,
            text=True,
        )  # fmt: skip
        sys.stderr.write(done.stderr)
        sent = json.loads(done.stdout)
        moment = wait_until(self._all_run, chosen.patience) or time.time()
        after = cpu_by_name(self._server)
        pods = client.list("pods", "default")
        checks = self._checks(pods, moment - sent["first"])
        if chosen.operated:
            checks |= self._agreement(pods, sent["first"])
        took = sent["last"] - sent["first"]
        print(f"accepted {chosen.pods - sent['refused']} pods from {chosen.clients} Go clients in "
              f"{took:.1f} s ({chosen.pods / took:.0f}/s, p50 {sent['p50_ms']:.1f} ms, "
              f"p99 {sent['p99_ms']:.1f} ms)")  # fmt: skip
        told = _spent(before, after)
        print(f"CPU seconds until all were Running: {told}")
        if chosen.operated:
            told = _spent(before, cpu_by_name(self._server))
            print(f"CPU seconds until all had said so:  {told}")
            print(f"{self._revision() - revision} writes were made, four of them for each pod")
            weight = sum(pss_mib(pid) for pid in tree(self._server))
            print(f"the whole tree weighs {weight:.0f} MiB (proportional set size)")
        for what, (found, met) in checks.items():
            print(f"{'ok  ' if met else 'NOT '} {what}: {found}")
        return 0 if all(met for _, met in checks.values()) else 1

    def _revision(self) -> int:
        """Return how many writes there have been."""
        _, body = self._client.ask("GET", "/api/v1/namespaces", query={"limit": "1"})
        return int(json.loads(body)["metadata"]["resourceVersion"])

    def _all_run(self) -> bool:
        query = {"fieldSelector": "status.phase!=Running", "limit": "1"}
        _, body = self._client.ask("GET", "/api/v1/namespaces/default/pods", query=query)
        return not json.loads(body)["items"]

    def _checks(self, pods: list[Tree], seconds: float) -> Checks:
        count = self._chosen.pods
        bar = 30 if self._chosen.operated else 15
        running = sum(pod["status"].get("phase") == "Running" for pod in pods)
        nodes = [
            node for node in self._client.list("nodes") if node["metadata"]["name"] != "node-0"
        ]
        ledger = take_ledger(nodes, pods)
        addresses = {pod["status"].get("podIP") for pod in pods}
        scheduled = Counter(
            event["involvedObject"]["name"]
            for event in self._client.list("events", "default")
            if event.get("reason") == "Scheduled"
        )
        most = max((node.placed for node in ledger.nodes), default=0)
        peak = peak_mib(self._server)
        return {
            f"all Running within {bar} s of the first request": (
                f"{running} Running after {seconds:.1f} s",
                running >= count and seconds <= bar,
            ),
            "each has its Scheduled event": (
                f"{len(scheduled)} pods with one",
                len(scheduled) == count,
            ),
            "each has an address of its own": (
                f"{len(addresses - {None})} addresses",
                None not in addresses and len(addresses) == len(pods),
            ),
            "the ledger is exact": (f"{ledger.requested} GPUs", ledger.requested == count),
            "no node is over": (
                f"{most} GPUs at most on one",
                all(node.free >= 0 for node in ledger.nodes),
            ),
            "under 400 MiB": (f"{peak:.0f} MiB at most", peak < 400),
        }

    def _agreement(self, pods: list[Tree], first: float) -> Checks:
        """Wait until the operator says what the scheduler did."""
        placed = {pod["metadata"]["name"]: pod["spec"].get("nodeName", "") for pod in pods}
        found: Checks = {}
        for who, look in (("documents", self._documents), ("exporter", self._exported)):
            moment = wait_until(partial(_equal, look, placed), self._chosen.patience, 0.5)
            right = look().items() & placed.items()
            when = "never" if moment is None else f"after {moment - first:.1f} s"
            said = f"{len(right)} of {len(placed)} pods on their node, {when}"
            found[f"the {who} agree"] = (said, moment is not None)
        return found

    def _documents(self) -> dict[str, str]:
        """Return which node has which pod, as the documents of nodes say."""
        found: dict[str, Any] = {}
        for tree_ in self._client.list("configmaps", POOL_NAMESPACE, NODE_NAME_LABEL):
            topology = parse_node_topology(tree_["data"][TOPOLOGY_KEY])
            node = tree_["metadata"]["labels"][NODE_NAME_LABEL]
            found |= {gpu.status.allocated_by.pod: node for gpu in topology.gpus}
        found.pop("", None)
        return found

    def _exported(self) -> dict[str, str]:
        return {pod: node for node, pod in _OWNER.findall(self._metrics())}

    def _metrics(self) -> str:
        status, body = self._client.ask("GET", METRICS)
        return body.decode() if status == 200 else ""


def _equal(look: Callable[[], dict[str, str]], wanted: dict[str, str]) -> bool:
    return look() == wanted


def _spent(before: dict[str, float], after: dict[str, float]) -> str:
    spent = {name: after[name] - before.get(name, 0) for name in after}
    return ", ".join(f"{name} {cpu:.1f}" for name, cpu in spent.items() if cpu >= 0.1)


if __name__ == "__main__":
    sys.exit(main())

"""Prints how fast pods are bound here beside the real control plane, on the same machine.

    python benchmarks/beside_real_cluster.py [--peers PATH] [--nodes 1000] [--pods 5000]

The real one is etcd, kube-apiserver and kube-scheduler v1.36.3, started by ``run_real.sh`` of
``../shared/peers/scheduler`` (its pods are there before its scheduler starts, its client limits are
lifted, its etcd does not sync). Ours takes the pods over TLS, syncs every write, binds and plays
them: the whole of ``fill.py``. Figures of one run only may be compared.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

from beside_real_scheduler import prepared

HERE = Path(__file__).resolve().parent
_UNLIMITED_QPS = "5000"


def ours(nodes: int, pods: int) -> float:
    """Return pods a second from the first request until all are Running."""
    fill = [sys.executable, str(HERE / "fill.py"), "--nodes", str(nodes), "--pods", str(pods)]
    done = subprocess.run(fill, capture_output=True, text=True, check=False)
    took = re.search(rf"{pods} Running after ([0-9.]+) s", done.stdout)
    if took is None:
        raise SystemExit(f"our cluster could not be filled:\n{done.stdout}{done.stderr}")
    return pods / float(took[1])


def real(peers: Path, nodes: int, pods: int) -> float:
    """Return pods a second from the first to the last that is bound."""
    done = subprocess.run(
        ["./run_real.sh", str(nodes), str(pods), _UNLIMITED_QPS],
        cwd=peers, capture_output=True, text=True, check=False,
    )  # fmt: skip
    told = re.search(r"^\{.*?\}", done.stdout, re.MULTILINE)
    if told is None:
        raise SystemExit(f"the real control plane could not be filled:\n{done.stderr}")
    return float(json.loads(told[0])["podsPerSecond"])


def main() -> None:
    """Measure both and print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", type=Path, help="a built copy of ../shared/peers/scheduler")
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=5000)
    options = parser.parse_args()
    peers = options.peers or prepared("realbench")
    here = ours(options.nodes, options.pods)
    print(f"{options.nodes} nodes, {options.pods} pods of one GPU; pods/s:")
    print(f"  ours, sent, bound, Running, every write synced {here:>7,.0f}")
    if not isinstance(peers, Path):
        print(f"  {peers}")
        return
    there = real(peers, options.nodes, options.pods)
    print(f"  the real control plane, bound only, no syncs   {there:>7,.0f}")
    print(f"  ours is {here / there:.1f} times the real one")


if __name__ == "__main__":
    main()

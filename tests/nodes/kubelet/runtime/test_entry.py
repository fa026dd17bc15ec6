"""Paths as a container sees them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from windtunnel.nodes.kubelet.runtime import entry
from windtunnel.nodes.kubelet.runtime.entry import Missing, find_program, inside

PATHS = {
    "/usr/bin/sh": "/usr/bin/sh",
    "/bin/sh": "/usr/bin/sh",
    "/bin/../bin/./sh": "/usr/bin/sh",
    "/../../etc": "/etc",
    "/up/etc": "/etc",
    "/none/at/all": "/none/at/all",
    "/": "/",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "usr/bin").mkdir(parents=True)
    (tmp_path / "usr/bin/sh").touch(0o755)
    (tmp_path / "usr/bin/text").touch(0o644)
    (tmp_path / "bin").symlink_to("/usr/bin")
    (tmp_path / "up").symlink_to("../../..")
    (tmp_path / "circle").symlink_to("/circle")
    return tmp_path


@pytest.mark.parametrize(("path", "want"), PATHS.items())
def test_links_are_followed_within_the_root(root: Path, path: str, want: str) -> None:
    assert inside(str(root), path).rstrip("/") == f"{root}{want}".rstrip("/")


def test_a_circle_of_links_is_an_error(root: Path) -> None:
    with pytest.raises(OSError, match="symbolic links"):
        inside(str(root), "/circle")


FOUND = {
    ("sh", "/bin"): "/bin/sh",
    ("sh", "/none:/usr/bin"): "/usr/bin/sh",
    ("./sh", ""): "/usr/bin/./sh",
    ("/bin/sh", ""): "/bin/sh",
}


@pytest.mark.parametrize(("asked", "want"), FOUND.items())
def test_a_program_is_found(root: Path, asked: tuple[str, str], want: str) -> None:
    assert find_program(str(root), *asked, "/usr/bin") == want


MISSING = {
    ("no", "/bin"): 'exec: "no": executable file not found in $PATH',
    ("text", "/bin"): 'exec: "text": executable file not found in $PATH',
    ("/no", ""): 'exec: "/no": stat /no: no such file or directory',
    ("/bin/text", ""): 'exec: "/bin/text": permission denied',
    ("/usr", ""): 'exec: "/usr": permission denied',
}


@pytest.mark.parametrize(("asked", "words"), MISSING.items())
def test_why_a_program_is_not_found(root: Path, asked: tuple[str, str], words: str) -> None:
    with pytest.raises(Missing) as failed:
        find_program(str(root), *asked, "/")

    assert str(failed.value) == words


def test_it_ends_where_nobody_listens_any_more(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "status")

    done = subprocess.run([sys.executable, entry.__file__, str(tmp_path)], check=False, timeout=20)

    assert done.returncode == 128

"""Where limits of memory can be set, and how much is held."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

import pytest

from windtunnel.nodes.kubelet.runtime.memory import (
    Groups,
    family,
    oom_kills,
    parents,
    places,
    resident_bytes,
)

PLACES = {
    "version 1: our own, and above": (
        "4:memory:/a/b\n0::/\n",
        [("memory/a/b", True), ("memory/a", True), ("memory", True), (".", False)],
    ),
    "version 2: beside us, and above": ("0::/a/b\n", [("a", False), (".", False)]),
    "other controllers are no place": ("3:cpu,cpuacct:/a\n", []),
}


@pytest.mark.parametrize(("text", "want"), PLACES.values(), ids=PLACES)
def test_where_a_group_may_be_made(text: str, want: list[tuple[str, bool]]) -> None:
    assert list(places(text)) == [(PurePosixPath(path), legacy) for path, legacy in want]


KILLS = {
    "low 0\noom 1\noom_kill 2\n": 2,
    "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n": 1,
    "under_oom 0\n": 0,
}


@pytest.mark.parametrize(("text", "want"), KILLS.items())
def test_how_often_memory_killed(text: str, want: int) -> None:
    assert oom_kills(text) == want


def test_no_group_where_nothing_may_be_written(tmp_path: Path) -> None:
    (tmp_path / "cgroup").write_text("0::/a\n")
    groups = Groups("t", tmp_path / "none", tmp_path / "cgroup")

    assert groups.make("0" * 64, 1000) is None
    groups.close()


def test_a_family_is_all_who_descend() -> None:
    assert family(1, {1: [2, 3], 3: [4], 5: [6]}) == {1, 2, 3, 4}


def test_we_are_of_our_own_family_and_hold_memory() -> None:
    children = parents()

    assert os.getpid() in family(os.getppid(), children)
    assert resident_bytes({os.getpid()}, os.sysconf("SC_PAGE_SIZE")) > 1_000_000
    assert resident_bytes({-1}, 4096) == 0

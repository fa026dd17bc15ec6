"""How a cluster is can be told from its folder alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from windtunnel.errors import ClusterError
from windtunnel.home import Folder, Process, birth, describe, stop
from windtunnel.home.condition import state_of
from windtunnel.home.reach import serving


def process(started: str) -> Process:
    return Process(os.getpid(), started, "https://x", "/nowhere/kubeconfig", "/data")


def running(folder: Folder) -> None:
    folder.write_process(process(birth(os.getpid())))


def dead(folder: Folder) -> None:
    folder.write_process(process("another boot:1"))


def failed(folder: Folder) -> None:
    folder.remember_data(Path("/data"))
    folder.remember_end("the disk is full")


def stopped(folder: Folder) -> None:
    folder.remember_data(Path("/data"))


def starting(folder: Folder) -> None:
    folder.hold()


STATES: dict[str, tuple[Callable[[Folder], None], str]] = {
    "running": (running, ""),
    "dead": (dead, "cluster a has died: its process "),
    "failed": (failed, "cluster a stopped by itself: the disk is full; "),
    "stopped": (stopped, "cluster a is not running; start it with `windtunnel up --name a`"),
    "starting": (starting, "cluster a is starting or stopping"),
}


@pytest.mark.parametrize(("state", "make", "said"), [(s, *c) for s, c in STATES.items()])
def test_a_cluster_is(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    state: str,
    make: Callable[[Folder], None],
    said: str,
) -> None:
    monkeypatch.setenv("WINDTUNNEL_HOME", str(tmp_path))
    folder = Folder("a")
    folder.create()
    make(folder)

    assert state_of(folder) == state
    if said:
        with pytest.raises(ClusterError, match=said):
            serving("a")
    else:
        assert serving("a")[1] == folder.process()


@pytest.mark.parametrize("make", [running, dead, failed, stopped])
def test_data_is_shown_whether_the_cluster_runs_or_not(
    tmp_path: Path, make: Callable[[Folder], None]
) -> None:
    folder = Folder("a", tmp_path)
    folder.create()
    make(folder)

    assert describe(folder)["data"] == "/data"


def test_why_a_cluster_stopped_by_itself_is_shown(tmp_path: Path) -> None:
    folder = Folder("a", tmp_path)
    folder.create()
    failed(folder)

    assert describe(folder)["why"] == "the disk is full"


def test_what_a_dead_one_left_is_cleared_away(tmp_path: Path) -> None:
    folder = Folder("a", tmp_path)
    folder.create()
    dead(folder)

    assert stop(folder) == "dead"
    assert stop(folder) == "stopped"


def test_one_that_is_starting_is_not_stopped(tmp_path: Path) -> None:
    folder = Folder("a", tmp_path)
    folder.create()
    starting(folder)

    with pytest.raises(ClusterError, match="is starting or stopping"):
        stop(folder)

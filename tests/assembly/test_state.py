"""A state folder tells who serves the cluster, and lets nobody else in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from windtunnel.assembly.state import FORMAT, MARKER, Folder, Process, birth, folders, open_data
from windtunnel.errors import ClusterError, DataError, UsageError


def process(pid: int, started: str) -> Process:
    return Process(pid=pid, started=started, url="https://x", kubeconfig="k", data="")


@pytest.mark.parametrize("name", ["", "-a", "a-", "A", "a/b", "..", "a" * 41, "a b"])
def test_an_impossible_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cluster name"):
        Folder(name)


def test_a_cluster_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    folder = Folder("a", tmp_path)
    folder.create()
    assert not folder.held

    lock = folder.hold()
    assert folder.held
    with pytest.raises(ClusterError, match="cluster a is already up"):
        Folder("a", tmp_path).hold()

    lock.release()
    assert not folder.held
    Folder("a", tmp_path).hold().release()


def test_this_process_is_alive_and_a_recycled_id_is_not() -> None:
    assert process(os.getpid(), birth(os.getpid())).alive
    assert not process(os.getpid(), "another boot:1").alive


def test_a_process_that_has_ended_is_not_alive_even_before_it_is_collected() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    known = process(child.pid, birth(child.pid))
    assert known.alive

    assert child.stdin is not None
    child.stdin.close()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not known.alive

    child.wait()
    assert not known.alive


def test_who_serves_is_written_and_forgotten(tmp_path: Path) -> None:
    folder = Folder("a", tmp_path)
    folder.create()
    assert folder.process() is None

    me = process(os.getpid(), birth(os.getpid()))
    folder.write_process(me)
    assert folder.process() == me

    folder.forget_process()
    folder.forget_process()
    assert folder.process() is None


def test_a_damaged_process_file_is_named(tmp_path: Path) -> None:
    folder = Folder("a", tmp_path)
    folder.create()
    (folder.path / "process.json").write_text("{")

    with pytest.raises(DataError, match=r"process\.json is damaged"):
        folder.process()


def test_all_clusters_are_listed_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WINDTUNNEL_HOME", str(tmp_path / "home"))
    assert folders() == []

    for name in ("b", "a"):
        Folder(name).create()
    (tmp_path / "home" / "Stranger").mkdir()
    (tmp_path / "home" / "file").touch()

    assert [folder.name for folder in folders()] == ["a", "b"]


def test_an_empty_or_missing_folder_becomes_ours_and_stays_so(tmp_path: Path) -> None:
    data = tmp_path / "deep" / "data"

    open_data(data, "a").release()
    open_data(data, "a").release()

    assert json.loads((data / MARKER).read_text()) == {"format": FORMAT, "cluster": "a"}


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    lock = open_data(tmp_path, "a")

    with pytest.raises(DataError, match="in use by another cluster"):
        open_data(tmp_path, "b")

    lock.release()


def foreign(path: Path) -> None:
    (path / "photos").mkdir()


def newer(path: Path) -> None:
    (path / MARKER).write_text('{"format": 99}')


def damaged(path: Path) -> None:
    (path / MARKER).write_bytes(b"\xff")


def listed(path: Path) -> None:
    (path / MARKER).write_text("[]")


REFUSED = {
    "someone else's": (foreign, r"is not a Windtunnel data folder \(it holds photos\)"),
    "of another version": (newer, "has format 99"),
    "with a damaged marker": (damaged, "is damaged"),
    "with a marker of another shape": (listed, "has format None"),
}


@pytest.mark.parametrize(("make", "said"), REFUSED.values(), ids=REFUSED)
def test_a_folder_is_refused_and_untouched_when_it_is(tmp_path: Path, make, said: str) -> None:
    make(tmp_path)
    before = sorted(entry.name for entry in tmp_path.iterdir())

    with pytest.raises(DataError, match=said):
        open_data(tmp_path, "a")

    assert sorted(entry.name for entry in tmp_path.iterdir()) == before


def test_a_file_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(DataError, match="is not a folder"):
        open_data(tmp_path / "file", "a")
    with pytest.raises(DataError, match="is not a folder"):
        open_data(tmp_path / "file" / "below", "a")

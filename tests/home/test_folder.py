"""A state folder tells who serves the cluster, and lets nobody else in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from windtunnel.errors import ClusterError, DataError, UsageError
from windtunnel.home import Folder, Process, birth, find, folders


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
    (tmp_path / "home" / "photos").mkdir()
    (tmp_path / "home" / "file").touch()

    assert [folder.name for folder in folders()] == ["a", "b"]


def test_a_folder_that_cannot_be_looked_into_does_not_hide_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WINDTUNNEL_HOME", str(tmp_path))
    for name in ("a", "b"):
        Folder(name).create()
    looked = Path.stat

    def stat(path: Path, **kept: bool) -> os.stat_result:
        if path == tmp_path / "a" / "cluster.json":
            raise PermissionError(13, "Permission denied", str(path))
        return looked(path, **kept)

    monkeypatch.setattr(Path, "stat", stat)

    assert [folder.name for folder in folders()] == ["a", "b"]
    with pytest.raises(DataError, match=r"cannot read .*cluster\.json: Permission denied"):
        find("a")


def test_a_folder_that_is_no_clusters_is_neither_taken_nor_deleted(tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    (photos / "cat.jpg").touch()
    folder = Folder("photos", tmp_path)

    assert not folder.exists
    with pytest.raises(DataError, match=r"is not a cluster's folder \(it holds cat\.jpg\)"):
        folder.create()
    with pytest.raises(DataError, match="is left as it is"):
        folder.remove()

    assert [entry.name for entry in photos.iterdir()] == ["cat.jpg"]


def test_a_link_is_not_said_to_be_deleted(tmp_path: Path) -> None:
    real = Folder("real", tmp_path)
    real.create()
    (tmp_path / "linked").symlink_to(real.path)

    with pytest.raises(DataError, match="it is a symbolic link"):
        Folder("linked", tmp_path).remove()

    assert real.exists


def test_what_a_cluster_was_is_remembered(tmp_path: Path) -> None:
    folder = Folder("a", tmp_path)
    folder.create()
    assert folder.remembered().data == ""

    folder.remember_data(tmp_path / "elsewhere")
    folder.remember_end("the disk is full")
    assert folder.remembered().data == str(tmp_path / "elsewhere")
    assert folder.remembered().ended == "the disk is full"

    folder.remember_data(tmp_path / "elsewhere")
    assert folder.remembered().ended == ""
    folder.create()
    assert folder.remembered().data == str(tmp_path / "elsewhere")


DAMAGED = {
    "no JSON": ("{", "is damaged: delete it"),
    "a list": ("[]", "it is not an object"),
    "of another format": ('{"format": 9}', "has format 9, this version reads 1"),
    "with other fields": ('{"format": 1, "colour": "red"}', "it has other fields"),
}


@pytest.mark.parametrize(("text", "said"), DAMAGED.values(), ids=DAMAGED)
def test_a_marker_is_refused_that_is(tmp_path: Path, text: str, said: str) -> None:
    folder = Folder("a", tmp_path)
    folder.create()
    (folder.path / "cluster.json").write_text(text)

    with pytest.raises(DataError, match=said):
        folder.remembered()

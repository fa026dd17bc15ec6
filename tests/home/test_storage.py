"""A data folder is ours alone: a stranger's, another version's or a busy one is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from windtunnel.errors import DataError
from windtunnel.home.storage import FORMAT, MARKER, open_storage


def test_an_empty_or_missing_folder_becomes_ours_and_stays_so(tmp_path: Path) -> None:
    data = tmp_path / "deep" / "data"

    open_storage(data).release()
    open_storage(data).release()

    assert json.loads((data / MARKER).read_text()) == {"format": FORMAT, "begun": False}


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    lock = open_storage(tmp_path)

    with pytest.raises(DataError, match="in use by another cluster"):
        open_storage(tmp_path)

    lock.release()


def begun(tmp_path: Path) -> Path:
    """A data folder that has seen a first commit."""
    storage = open_storage(tmp_path)
    storage.database.write_bytes(b"content")
    storage.begin()
    storage.release()
    return storage.database


def test_what_has_begun_is_opened_again(tmp_path: Path) -> None:
    begun(tmp_path)

    storage = open_storage(tmp_path)
    storage.check()
    storage.release()


def empty(database: Path) -> None:
    database.write_bytes(b"")


@pytest.mark.parametrize("damage", [Path.unlink, empty])
def test_a_database_that_is_gone_is_damage_and_no_beginning(tmp_path: Path, damage) -> None:
    database = begun(tmp_path)
    beside = database.with_name(database.name + "-wal")
    beside.write_bytes(b"what can still be saved")
    damage(database)

    for _ in range(2):
        with pytest.raises(DataError, match="is damaged: the cluster's objects are gone"):
            open_storage(tmp_path)
    assert beside.read_bytes() == b"what can still be saved"


def test_a_database_that_remembers_nothing_is_damage(tmp_path: Path) -> None:
    begun(tmp_path)

    storage = open_storage(tmp_path)
    with pytest.raises(DataError, match="is damaged: the cluster's objects are gone"):
        storage.check(empty=True)
    storage.release()


def test_before_the_first_commit_an_empty_database_is_a_beginning(tmp_path: Path) -> None:
    open_storage(tmp_path).release()

    storage = open_storage(tmp_path)
    storage.check(empty=True)
    storage.release()


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
    "with a marker of another shape": (listed, "has format null"),
}


@pytest.mark.parametrize(("make", "said"), REFUSED.values(), ids=REFUSED)
def test_a_folder_is_refused_and_untouched_when_it_is(tmp_path: Path, make, said: str) -> None:
    make(tmp_path)
    before = sorted(entry.name for entry in tmp_path.iterdir())

    with pytest.raises(DataError, match=said):
        open_storage(tmp_path)

    assert sorted(entry.name for entry in tmp_path.iterdir()) == before


def test_a_file_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(DataError, match="is not a folder"):
        open_storage(tmp_path / "file")
    with pytest.raises(DataError, match="is not a folder"):
        open_storage(tmp_path / "file" / "below")

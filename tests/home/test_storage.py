"""A data folder is ours alone: a stranger's, another version's or a busy one is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from windtunnel.errors import DataError
from windtunnel.home.storage import FORMAT, MARKER, open_storage


def test_an_empty_or_missing_folder_becomes_ours_and_stays_so(tmp_path: Path) -> None:
    data = tmp_path / "deep" / "data"

    open_storage(data, "a").release()
    open_storage(data, "a").release()

    assert json.loads((data / MARKER).read_text()) == {"format": FORMAT, "cluster": "a"}


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    lock = open_storage(tmp_path, "a")

    with pytest.raises(DataError, match="in use by another cluster"):
        open_storage(tmp_path, "b")

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
        open_storage(tmp_path, "a")

    assert sorted(entry.name for entry in tmp_path.iterdir()) == before


def test_a_file_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(DataError, match="is not a folder"):
        open_storage(tmp_path / "file", "a")
    with pytest.raises(DataError, match="is not a folder"):
        open_storage(tmp_path / "file" / "below", "a")

"""Files that are switched all at once."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from windtunnel.nodes.kubelet.volumes.payload import Files, PlannedFile
from windtunnel.nodes.kubelet.volumes.writer import write_files

NOW = 1_769_846_400.25


def files(**texts: str) -> Files:
    return {name: PlannedFile(text.encode(), 0o644) for name, text in texts.items()}


def test_files_are_links_through_one_link_to_a_folder_named_after_the_time(tmp_path: Path) -> None:
    assert write_files(tmp_path / "v", files(token="t", ca="c"), NOW)

    names = sorted(os.listdir(tmp_path / "v"))  # noqa: PTH208 - names only
    assert re.fullmatch(r"\.\.2026_01_31_08_00_00\.\d{10}", names[0])
    assert names[1:] == ["..data", "ca", "token"]
    assert (tmp_path / "v/token").readlink() == Path("..data/token")
    assert (tmp_path / "v/token").read_text() == "t"


def test_what_has_not_changed_is_not_written(tmp_path: Path) -> None:
    write_files(tmp_path, files(a="1"), NOW)
    before = (tmp_path / "..data").readlink()

    assert not write_files(tmp_path, files(a="1"), NOW + 9)
    assert (tmp_path / "..data").readlink() == before


def test_a_reader_of_an_open_folder_sees_what_is_now(tmp_path: Path) -> None:
    write_files(tmp_path, files(a="1", gone="x"), NOW)
    folder = os.open(tmp_path, os.O_RDONLY)
    assert write_files(tmp_path, files(a="2", more="y"), NOW + 60)

    file = os.open("a", os.O_RDONLY, dir_fd=folder)
    assert os.read(file, 9) == b"2"
    os.close(file)
    os.close(folder)
    assert sorted(name for name in os.listdir(tmp_path) if name[:2] != "..") == ["a", "more"]  # noqa: PTH208
    assert len([name for name in os.listdir(tmp_path) if name[:2] == ".."]) == 2  # noqa: PTH208


def test_modes_and_the_group_that_may_read(tmp_path: Path) -> None:
    planned = {"deep/er/secret": PlannedFile(b"s", 0o400)}
    write_files(tmp_path, planned, NOW, group=os.getgid())

    assert (tmp_path / "deep/er/secret").stat().st_mode & 0o777 == 0o440
    assert not write_files(tmp_path, planned, NOW, group=os.getgid())


names = st.text(alphabet="abc", min_size=1, max_size=3)


@given(st.lists(st.dictionaries(names, names, max_size=4), min_size=1, max_size=4))
def test_after_any_changes_there_is_what_was_written_last(history: list[dict[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for step, texts in enumerate(history):
            write_files(Path(folder), files(**texts), NOW + step)
        there = {
            path.name: path.read_text()
            for path in Path(folder).iterdir()
            if not path.name.startswith("..")
        }

    assert there == history[-1]

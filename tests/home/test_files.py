"""Private files are of mode 600, and whole."""

from __future__ import annotations

from pathlib import Path

from windtunnel.home.files import overwrite, write_private


def test_a_file_is_private_and_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    file = tmp_path / "key"
    for content in (b"one", b"another"):
        write_private(file, content)
        assert file.read_bytes() == content

    assert file.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["key"]


def test_a_file_is_written_over_where_it_stands(tmp_path: Path) -> None:
    file = tmp_path / "marker"
    write_private(file, b"a long text")
    place = file.stat().st_ino

    overwrite(file, b"short")

    assert file.read_bytes() == b"short"
    assert file.stat().st_ino == place

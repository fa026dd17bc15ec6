"""Tests of tokens in files that are replaced."""

from __future__ import annotations

from pathlib import Path

from windtunnel.client.token_file import TokenFile


def test_a_token_that_is_replaced_is_read_again(tmp_path: Path) -> None:
    for number in ("1", "2"):
        (tmp_path / number).write_text(f"token {number}\n")
    link = tmp_path / "token"
    link.symlink_to("1")
    file = TokenFile(link)
    assert file.read() == "token 1"

    link.unlink()
    link.symlink_to("2")

    assert file.read() == "token 2"


def test_a_token_stays_while_its_file_is_away(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("t")
    file = TokenFile(path)
    file.read()

    path.unlink()

    assert file.read() == "t"


def test_without_a_file_there_is_no_token(tmp_path: Path) -> None:
    assert TokenFile(tmp_path / "token").read() == ""

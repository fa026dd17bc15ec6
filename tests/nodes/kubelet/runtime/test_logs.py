"""Log files: lines, parts, and what happens to a large one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.nodes.kubelet.runtime.logs import LINE_AT_MOST, Lines, LogFile, nano_time_text

NOW = 1_769_846_400.25
STAMP = b"2026-01-31T08:00:00.250000000Z"
LONG = b"x" * LINE_AT_MOST

CASES = {
    "a line": ([b"one\n"], b"F one\n"),
    "two lines in one piece": ([b"one\ntwo\n"], b"F one\nF two\n"),
    "a line in two pieces": ([b"on", b"e\n"], b"F one\n"),
    "an empty line": ([b"\n"], b"F \n"),
    "the end without a line feed": ([b"tail"], b"P tail\n"),
    "a long line is cut into parts": ([LONG + b"y\n"], b"P " + LONG + b"\nF y\n"),
    "a long piece without an end": ([LONG + b"y"], b"P " + LONG + b"\nP y\n"),
}


@pytest.mark.parametrize(("pieces", "want"), CASES.values(), ids=CASES)
def test_how_lines_are_written(pieces: list[bytes], want: bytes) -> None:
    lines = Lines("stdout")
    wrote = b"".join([*(lines.feed(piece, NOW) for piece in pieces), lines.end(NOW)])

    assert wrote == want.replace(b"F ", STAMP + b" stdout F ").replace(b"P ", STAMP + b" stdout P ")


@given(st.lists(st.binary(max_size=40)))
def test_nothing_is_lost(pieces: list[bytes]) -> None:
    lines = Lines("stderr")
    wrote = b"".join([*(lines.feed(piece, NOW) for piece in pieces), lines.end(NOW)])

    text = b""
    for line in wrote.split(b"\n")[:-1]:
        _, _, tag, rest = line.split(b" ", 3)
        text += rest + (b"\n" if tag == b"F" else b"")
    assert text == b"".join(pieces)


def test_times_have_nine_digits() -> None:
    assert nano_time_text(NOW) == "2026-01-31T08:00:00.250000000Z"


def test_a_large_file_is_begun_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "0.log"
    log = LogFile(path, rotated_bytes=150)
    for number in range(8):
        log.write("stdout", b"line %d\n" % number, NOW + number)
    log.close(NOW)

    assert path.read_bytes().endswith(b"line 7\n")
    assert len(list(path.parent.iterdir())) <= 5

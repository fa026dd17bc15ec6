"""A line can be read by a person and taken apart by a program."""

from __future__ import annotations

import shlex

import pytest

from windtunnel.telemetry import Log

CASES = {
    "a plain value stands as it is": ("https://127.0.0.1:6443", "url=https://127.0.0.1:6443"),
    "a value with spaces is quoted": ("two words", 'url="two words"'),
    "quotes inside are escaped": ('a "b"', r'url="a \"b\""'),
    "a line break stays one line": ("a\nb", r'url="a\nb"'),
    "nothing is told from missing": ("", 'url=""'),
    "numbers are numbers": (5, "url=5"),
}


@pytest.mark.parametrize(("value", "want"), CASES.values(), ids=CASES)
def test_fields(value: object, want: str) -> None:
    lines: list[str] = []

    Log(lines.append, lambda: "now").info("cluster", "serving", url=value)

    assert lines == [f"time=now level=info part=cluster event=serving {want}\n"]


def test_levels_name_themselves() -> None:
    lines: list[str] = []
    log = Log(lines.append, lambda: "now")

    log.warning("a", "b")
    log.error("a", "it failed")

    assert [shlex.split(line)[1] for line in lines] == ["level=warning", "level=error"]
    assert shlex.split(lines[1])[3] == "event=it failed"

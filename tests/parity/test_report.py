"""A replay counts what is met and shows where the rest differs."""

from __future__ import annotations

from typing import Any

import pytest

from windtunnel.parity.report import CaseResult, Report, differences

DIFFERENCES: dict[str, tuple[Any, Any, list[str]]] = {
    "the same, whatever the order of keys": ({"a": 1, "b": 2}, {"b": 2, "a": 1}, []),
    "a missing field": ({"a": 1}, {}, [".a: missing, want 1"]),
    "an unexpected field": ({}, {"a": 1}, [".a: unexpected 1"]),
    "another value, deep inside": (
        {"a": [{"b": "x"}]},
        {"a": [{"b": "y"}]},
        [".a[0].b: want 'x' got 'y'"],
    ),
    "a list of another length": ([1], [1, 2], [": want [1] got [1, 2]"]),
    "another type": ({"a": "1"}, {"a": 1}, [".a: want '1' got 1"]),
    "true is not one": ({"a": True}, {"a": 1}, [".a: want True got 1"]),
    "1 and 1.0 are one number in JSON": ({"a": 1}, {"a": 1.0}, []),
}


@pytest.mark.parametrize(("want", "got", "lines"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_differences(want: Any, got: Any, lines: list[str]) -> None:
    assert differences(want, got) == lines


def test_long_values_are_cut() -> None:
    (line,) = differences("x" * 1000, "")

    assert len(line) < 300


def test_a_report_counts_by_group() -> None:
    report = Report(
        (CaseResult("1", "b", ()), CaseResult("2", "a", ("differs",)), CaseResult("3", "b", ()))
    )

    assert report.summary() == "2 passed, 1 failed"
    assert report.by_group() == [("a", 0, 1), ("b", 2, 2)]

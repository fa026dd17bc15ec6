from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.machinery.age import age, micro_time_text, parse_time, short_duration, time_text

MINUTE, HOUR, DAY, YEAR = 60, 3600, 86400, 365 * 86400

DURATIONS = [
    (-5, "<invalid>"), (-1, "0s"), (0, "0s"), (119, "119s"), (120, "2m"), (200, "3m20s"),
    (10 * MINUTE + 5, "10m"), (3 * HOUR, "3h"), (3 * HOUR + 5 * MINUTE, "3h5m"), (8 * HOUR, "8h"),
    (47 * HOUR, "47h"), (2 * DAY, "2d"), (2 * DAY + 4 * HOUR, "2d4h"), (9 * DAY, "9d"),
    (2 * YEAR, "2y"), (2 * YEAR + 3 * DAY, "2y3d"), (9 * YEAR, "9y"),
]  # fmt: skip


@pytest.mark.parametrize(("seconds", "want"), DURATIONS)
def test_a_duration_is_short(seconds: float, want: str) -> None:
    assert short_duration(seconds) == want


def test_times_are_read_with_fractions_and_offsets() -> None:
    assert parse_time("1970-01-01T00:01:00Z") == 60
    assert parse_time("1970-01-01T01:00:00.500000+01:00") == 0.5


@pytest.mark.parametrize("text", ["", "now", "2026-01-31", "2026-01-31T08:00:00"])
def test_another_text_is_no_time(text: str) -> None:
    with pytest.raises((ValueError, IndexError)):
        parse_time(text)


@given(st.integers(min_value=0, max_value=4_000_000_000))
def test_a_printed_time_reads_back(seconds: int) -> None:
    assert parse_time(time_text(seconds)) == seconds
    assert parse_time(micro_time_text(seconds)) == seconds


def test_an_unknown_age_says_so() -> None:
    assert age(None, 0) == "<unknown>"
    assert age("1970-01-01T00:00:00Z", 90) == "90s"

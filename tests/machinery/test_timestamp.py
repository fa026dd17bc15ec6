from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.machinery.timestamp import micro_time_text, parse_time, time_text

NO_TIMES = [
    "", "now", "2026-01-31", "2026-01-31T08:00:00", "2026-01-31 08:00:00Z", "2026-02-30T08:00:00Z",
    "2026-01-31T24:00:00Z", "2026-01-31T08:00:00.Z", "2026-01-31T08:00:00+0900",
    "2026-01-31T08:00:00Z ", "٢٠٢٦-01-31T08:00:00Z", "nonsense-nonsense-nonsense",
]  # fmt: skip


def test_times_are_read_with_fractions_and_offsets() -> None:
    assert parse_time("1970-01-01T00:01:00Z") == 60
    assert parse_time("1970-01-01T01:00:00.500000+01:00") == 0.5
    assert parse_time("1969-12-31t22:30:00-01:30") == 0
    assert parse_time("2026-01-01T09:00:00+09:00") == 1_767_225_600


@pytest.mark.parametrize("text", NO_TIMES)
def test_another_text_is_no_time(text: str) -> None:
    with pytest.raises(ValueError):
        parse_time(text)


def test_a_time_is_cut_to_the_second_and_a_micro_time_is_not() -> None:
    assert time_text(1_767_225_600.999) == "2026-01-01T00:00:00Z"
    assert micro_time_text(1_767_225_600.25) == "2026-01-01T00:00:00.250000Z"


@given(st.integers(0, 4_102_444_800), st.integers(0, 999_999))
def test_a_printed_time_reads_back(seconds: int, micros: int) -> None:
    text = f"{time_text(seconds)[:-1]}.{micros:06d}Z"

    assert parse_time(time_text(seconds)) == seconds
    assert micro_time_text(parse_time(text)) == text

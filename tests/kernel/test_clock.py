"""Times read and print as the API's texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.kernel import VirtualClock, WallClock
from windtunnel.kernel.clock import parse_rfc3339, rfc3339, rfc3339_micro


@given(st.integers(0, 4_102_444_800))
def test_whole_seconds_survive_the_round_trip(seconds: int) -> None:
    assert parse_rfc3339(rfc3339(seconds)) == seconds


def test_texts_are_the_apis() -> None:
    assert rfc3339(1_767_225_600.999) == "2026-01-01T00:00:00Z"
    assert rfc3339_micro(1_767_225_600.25) == "2026-01-01T00:00:00.250000Z"
    assert parse_rfc3339("2026-01-01T09:00:00+09:00") == 1_767_225_600


@pytest.mark.parametrize(
    "text", ["", "2026-01-01", "2026-01-01 00:00:00Z", "nonsense-nonsense-nonsense"]
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_rfc3339(text)


def test_a_virtual_clock_never_goes_back() -> None:
    clock = VirtualClock(10)
    clock.move_to(5)
    assert clock.now() == 10


def test_the_wall_clock_moves_forward() -> None:
    clock = WallClock()
    assert clock.now() <= clock.now()

from __future__ import annotations

import pytest

from windtunnel.machinery.age import age, parse_duration, short_duration

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


def test_an_unknown_age_says_so() -> None:
    assert age(None, 0) == "<unknown>"
    assert age("1970-01-01T00:00:00Z", 90) == "90s"


@pytest.mark.parametrize(
    ("text", "want"), [("40s", 40), ("1m30s", 90), ("1.5h", 5400), ("20ms", 0.02)]
)
def test_a_duration_is_read_as_go_writes_it(text: str, want: float) -> None:
    assert parse_duration(text) == want


@pytest.mark.parametrize("text", ["", "40", "s", "1m 30s", "-5s", "inf"])
def test_no_duration_is(text: str) -> None:
    with pytest.raises(ValueError, match="invalid duration"):
        parse_duration(text)

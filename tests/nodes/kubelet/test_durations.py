"""Durations as Go prints them."""

from __future__ import annotations

import pytest

from windtunnel.nodes.kubelet.durations import spoken

CASES = {
    0: "0s", 0.0004: "0s", 0.25: "250ms", 1.2345: "1.234s", 1: "1s", 10: "10s",
    60: "1m0s", 80: "1m20s", 160: "2m40s", 300: "5m0s", 3600: "1h0m0s", 3601: "1h0m1s",
}  # fmt: skip


@pytest.mark.parametrize(("seconds", "want"), CASES.items())
def test_a_duration_is_cut_to_the_millisecond(seconds: float, want: str) -> None:
    assert spoken(seconds) == want

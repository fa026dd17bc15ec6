"""Clocks move forward only."""

from __future__ import annotations

from windtunnel.kernel import VirtualClock, WallClock


def test_a_virtual_clock_never_goes_back() -> None:
    clock = VirtualClock(10)
    clock.move_to(5)
    assert clock.now() == 10


def test_the_wall_clock_moves_forward() -> None:
    clock = WallClock()
    assert clock.now() <= clock.now()

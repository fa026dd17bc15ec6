"""Streams of chance are named, independent and repeatable."""

from __future__ import annotations

from windtunnel.kernel import Chance


def test_the_same_seed_and_name_give_the_same_draws() -> None:
    assert Chance(7).stream("a").integers(1 << 60, size=5).tolist() == (
        Chance(7).stream("a").integers(1 << 60, size=5).tolist()
    )


def test_another_name_or_seed_gives_other_draws() -> None:
    draws = [
        chance.stream(name).integers(1 << 60)
        for chance, name in ((Chance(7), "a"), (Chance(7), "b"), (Chance(8), "a"))
    ]
    assert len(set(draws)) == 3

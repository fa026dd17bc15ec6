"""Ages and durations as kubectl's tables print them."""

from __future__ import annotations

import re
from typing import Final

from windtunnel.machinery.timestamp import parse_time

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86400, 365 * 86400


def _two_units(seconds: int, large: int, large_unit: str, small: int, small_unit: str) -> str:
    rest = seconds % large // small
    return f"{seconds // large}{large_unit}" + (f"{rest}{small_unit}" if rest else "")


_PIECE: Final = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_UNIT_SECONDS: Final = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "μs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
}


def parse_duration(text: str) -> float:
    """Return the seconds that a duration of at least 0 means, as Go writes it: ``1m30s``.

    Raises:
        ValueError: The text is no such duration.
    """
    pieces = _PIECE.findall(text)
    if not pieces or "".join(map("".join, pieces)) != text:
        raise ValueError(f'time: invalid duration "{text}"')
    return sum(float(amount) * _UNIT_SECONDS[unit] for amount, unit in pieces)


def short_duration(seconds: float) -> str:
    """Print a duration with two or three significant figures: ``5s``, ``3m20s``, ``2d4h``.

    A duration up to two seconds in the future counts as none, for clocks differ.
    """
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    if whole < 0:
        return "0s"
    if whole < 2 * _MINUTE:
        return f"{whole}s"
    if whole < 10 * _MINUTE:
        return _two_units(whole, _MINUTE, "m", 1, "s")
    if whole < 3 * _HOUR:
        return f"{whole // _MINUTE}m"
    if whole < 8 * _HOUR:
        return _two_units(whole, _HOUR, "h", _MINUTE, "m")
    if whole < 2 * _DAY:
        return f"{whole // _HOUR}h"
    if whole < 8 * _DAY:
        return _two_units(whole, _DAY, "d", _HOUR, "h")
    if whole < 2 * _YEAR:
        return f"{whole // _DAY}d"
    if whole < 8 * _YEAR:
        return _two_units(whole, _YEAR, "y", _DAY, "d")
    return f"{whole // _YEAR}y"


def age(stamp: str | None, now: float) -> str:
    """Print how long ago ``stamp`` was, ``<unknown>`` where there is none."""
    return short_duration(now - parse_time(stamp)) if stamp else "<unknown>"

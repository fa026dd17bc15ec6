"""Ages as kubectl's tables print them, and the time stamps of API objects."""

from __future__ import annotations

from calendar import timegm
from functools import lru_cache
from time import gmtime, strftime

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86400, 365 * 86400


def _two_units(seconds: int, large: int, large_unit: str, small: int, small_unit: str) -> str:
    rest = seconds % large // small
    return f"{seconds // large}{large_unit}" + (f"{rest}{small_unit}" if rest else "")


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


@lru_cache(maxsize=4096)
def parse_time(text: str) -> float:
    """Return the seconds since the epoch that an RFC 3339 text means.

    Raises:
        ValueError: The text is no RFC 3339 time.
    """
    if len(text) < 20 or text[4] != "-" or text[10] not in "Tt":
        raise ValueError(f"{text!r} is not an RFC 3339 time")
    whole = timegm(
        (int(text[:4]), int(text[5:7]), int(text[8:10]),
         int(text[11:13]), int(text[14:16]), int(text[17:19]))
    )  # fmt: skip
    rest = text[19:]
    fraction = 0.0
    if rest[0] == ".":
        digits = len(rest) - len(rest[1:].lstrip("0123456789")) - 1
        fraction = float("0." + rest[1 : 1 + digits])
        rest = rest[1 + digits :]
    if rest in ("Z", "z"):
        return whole + fraction
    if len(rest) != 6 or rest[0] not in "+-" or rest[3] != ":":
        raise ValueError(f"{text!r} is not an RFC 3339 time")
    shift = int(rest[1:3]) * _HOUR + int(rest[4:6]) * _MINUTE
    return whole + fraction - (shift if rest[0] == "+" else -shift)


@lru_cache(maxsize=64)
def _stamp(whole: int) -> str:
    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(whole))


def time_text(seconds: float) -> str:
    """Print seconds since the epoch as API objects do: ``2026-01-31T08:00:00Z``."""
    return _stamp(int(seconds))


def micro_time_text(seconds: float) -> str:
    """Print seconds since the epoch with six digits of fraction, as leases and events do."""
    micros = round(seconds * 1_000_000)
    return f"{_stamp(micros // 1_000_000)[:-1]}.{micros % 1_000_000:06d}Z"


def age(stamp: str | None, now: float) -> str:
    """Print how long ago ``stamp`` was, ``<unknown>`` where there is none."""
    return short_duration(now - parse_time(stamp)) if stamp else "<unknown>"

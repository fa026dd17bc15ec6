"""Clocks: the only readers of wall time.

Times are seconds since the epoch as a float; the API's texts are made here too, so that nobody
else needs ``datetime``.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import lru_cache
from typing import Protocol


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> float:
        """Return seconds since the epoch."""


class WallClock:
    """The machine's clock; never steps backwards within one process."""

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def now(self) -> float:
        """Return seconds since the epoch."""
        return self._offset + time.monotonic()


class VirtualClock:
    """A clock that stands still until it is moved."""

    def __init__(self, start: float = 0.0) -> None:
        self._now = start

    def now(self) -> float:
        """Return seconds since the epoch."""
        return self._now

    def move_to(self, when: float) -> None:
        """Set the clock; it never goes back."""
        self._now = max(self._now, when)


def rfc3339(seconds: float) -> str:
    """Return ``2026-01-01T00:00:00Z``: how the API writes a Time (whole seconds, cut)."""
    return _second(int(seconds))


@lru_cache(maxsize=256)  # A busy second is written down by thousands of objects.
def _second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def rfc3339_micro(seconds: float) -> str:
    """Return ``2026-01-01T00:00:00.000000Z``: how the API writes a MicroTime."""
    micros = int(seconds * 1_000_000)
    return f"{rfc3339(micros // 1_000_000)[:-1]}.{micros % 1_000_000:06d}Z"


def parse_rfc3339(text: str) -> float:
    """Return seconds since the epoch.

    Raises:
        ValueError: ``text`` is not an RFC 3339 time.
    """
    if len(text) < 20 or text[10] not in "Tt":
        raise ValueError(f"not an RFC 3339 time: {text!r}")
    parsed = datetime.fromisoformat(text)
    if parsed.tzinfo is None:
        raise ValueError(f"no time zone in {text!r}")
    return parsed.astimezone(UTC).timestamp()

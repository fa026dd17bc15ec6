"""Clocks: the only readers of wall time, in seconds since the epoch as a float."""

from __future__ import annotations

import time
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

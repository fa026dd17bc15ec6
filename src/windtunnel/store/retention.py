"""How long history is kept on disk: at least so many seconds, at most so many versions.

Looked at now and then inside writes, so that an idle store needs no timer.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from windtunnel.kernel import Clock

_EVERY: Final = 256
"""Writes between two looks at the clock."""
_MOST_VERSIONS: Final = 200_000
"""Under a storm of writes the disk's size is bounded before age is."""


class Retention:
    """Remembers when revisions were made and says which have grown old."""

    def __init__(self, clock: Clock, keep_seconds: float) -> None:
        self._clock, self._keep_seconds = clock, keep_seconds
        self._marks: deque[tuple[float, int]] = deque()

    def after(self, revision: int) -> int:
        """Take note of a write; return the revision up to which history is old, or 0."""
        if revision % _EVERY:
            return 0
        now = self._clock.now()
        self._marks.append((now, revision))
        cutoff = 0
        while self._is_old(now, revision):
            cutoff = self._marks.popleft()[1]
        return cutoff

    def _is_old(self, now: float, revision: int) -> bool:
        when, marked = self._marks[0]
        return now - when > self._keep_seconds or revision - marked > _MOST_VERSIONS

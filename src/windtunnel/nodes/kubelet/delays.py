"""Back-offs: how long something that failed again has to wait.

Source: client-go's flowcontrol.Backoff v1.36. The first failure waits nothing and notes the first
delay; each further one doubles it; after twice the longest delay of peace all is forgotten.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass


@dataclass(slots=True)
class _Entry:
    delay: float
    noted: float


class Delays:
    """Delays by key.

    Args:
        first_seconds: The first delay.
        longest_seconds: No delay is longer.
    """

    def __init__(self, first_seconds: float, longest_seconds: float) -> None:
        self._first, self._longest = first_seconds, longest_seconds
        self._entries: dict[Hashable, _Entry] = {}

    def delay(self, key: Hashable) -> float:
        """Return the present delay of a key, 0 where it has none."""
        entry = self._entries.get(key)
        return entry.delay if entry is not None else 0.0

    def wait(self, key: Hashable, event: float, now: float) -> float:
        """Return for how many more seconds to wait after something that happened at ``event``."""
        entry = self._entries.get(key)
        if entry is None or self._expired(entry, event):
            return 0.0
        return max(event + entry.delay - now, 0.0)

    def wait_since_noted(self, key: Hashable, now: float) -> float:
        """Return for how many more seconds to wait after the last failure that was noted."""
        entry = self._entries.get(key)
        if entry is None or self._expired(entry, now):
            return 0.0
        return max(entry.noted + entry.delay - now, 0.0)

    def note(self, key: Hashable, event: float, now: float) -> None:
        """Note one more failure, that happened at ``event``."""
        entry = self._entries.get(key)
        if entry is None or self._expired(entry, event):
            self._entries[key] = _Entry(self._first, now)
            return
        entry.delay = min(entry.delay * 2, self._longest)
        entry.noted = now

    def forget(self, belongs: Hashable) -> None:
        """Forget all keys that are tuples which begin with this."""
        for key in [key for key in self._entries if isinstance(key, tuple) and key[0] == belongs]:
            del self._entries[key]

    def _expired(self, entry: _Entry, event: float) -> bool:
        return event - entry.noted > 2 * self._longest

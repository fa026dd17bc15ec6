"""A work queue of keys: each key at most once in line, failures come back with backoff.

A request carries a name, never content, so that ten changes of one object cost one visit.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from windtunnel.kernel.loop import Loop, Ticket

K = TypeVar("K", bound=Hashable)


class WorkQueue(Generic[K]):
    """Keys to visit, first come first served.

    ``ready`` is called when the queue stops being empty. Backoff doubles from ``base_seconds`` to
    ``max_seconds`` for each failure of the same key (source: client-go's default rate limiter).
    """

    def __init__(
        self,
        loop: Loop,
        ready: Callable[[], None],
        base_seconds: float = 0.005,
        max_seconds: float = 1000.0,
    ) -> None:
        self._loop = loop
        self._ready = ready
        self._base, self._max = base_seconds, max_seconds
        self._line: OrderedDict[K, None] = OrderedDict()
        self._later: dict[K, Ticket] = {}
        self._failures: dict[K, int] = {}

    def __len__(self) -> int:
        return len(self._line)

    def __contains__(self, key: K) -> bool:
        return key in self._line

    @property
    def waiting(self) -> int:
        """How many keys are to stand in line later."""
        return len(self._later)

    def add(self, key: K) -> None:
        """Put the key in line, unless it stands there already."""
        if key in self._line:
            return
        was_empty = not self._line
        self._line[key] = None
        if was_empty:
            self._ready()

    def add_after(self, key: K, seconds: float) -> None:
        """Put the key in line later; the earlier of two times wins."""
        if seconds <= 0:
            self.add(key)
            return
        when = self._loop.clock.now() + seconds
        waiting = self._later.get(key)
        if waiting is not None and waiting.pending:
            if waiting.when <= when:
                return
            waiting.cancel()

        def due() -> None:
            self._later.pop(key, None)
            self.add(key)

        self._later[key] = self._loop.call_at(when, due)

    def add_failed(self, key: K) -> float:
        """Put the key in line after its backoff; returns the seconds it will wait."""
        count = self._failures.get(key, 0)
        self._failures[key] = count + 1
        wait = float(min(self._base * 2.0 ** min(count, 60), self._max))
        self.add_after(key, wait)
        return wait

    def forget(self, key: K) -> None:
        """Clear the key's failures."""
        self._failures.pop(key, None)

    def failures(self, key: K) -> int:
        """Return how often the key failed in a row."""
        return self._failures.get(key, 0)

    def drop(self, key: K) -> None:
        """Take the key out of line, now and later, and clear its failures."""
        self._line.pop(key, None)
        self._failures.pop(key, None)
        waiting = self._later.pop(key, None)
        if waiting is not None:
            waiting.cancel()

    def take(self, count: int = 1) -> list[K]:
        """Return the first ``count`` keys in line, fewer where fewer stand there."""
        line = self._line
        if count == 1:
            return [line.popitem(last=False)[0]] if line else []
        return [line.popitem(last=False)[0] for _ in range(min(count, len(line)))]

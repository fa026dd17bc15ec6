"""A work line: things to do soon, some a step, each tried again until it has an outcome.

The one place that knows what may become of work: done, once more later, parked until an answer from
outside is there, or failed for now, a lost connection included; then its backoff grows. Nothing but
a broken invariant gets past it, so that no part ends because its API server was away for a while.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from windtunnel.errors import BrokenInvariant
from windtunnel.kernel.loop import NORMAL, Loop
from windtunnel.kernel.workqueue import WorkQueue

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one piece of work: done, or ``again_in`` so many seconds."""

    again_in: float | None = None


DONE: Final = Result()


class Parked(Exception):
    """A write inside a step needs an answer from outside (a webhook).

    ``resume`` registers a call for the moment the answer is there; the line uses it to take the
    work up again. The step itself is abandoned: all work is safe to do twice.
    """

    def __init__(self, resume: Callable[[Callable[[], None]], None]) -> None:
        super().__init__("the write waits for an answer from outside")
        self.resume = resume


Settled = Result | Exception
"""An exception other than Parked: try again with backoff."""


class Line(Generic[K]):
    """Keys with work to do, first come first served, each at most once in line.

    Args:
        loop: Whose steps do the work.
        name: Who works here, for reports.
        work: Does the work of some keys and returns an outcome for each, in order. What it raises
            is the outcome of all of them.
        at_once: Keys a step; a fixed number, so that the same run does the same steps.
        base_seconds: The first backoff.
        max_seconds: The longest one.
        priority: Of the steps.
    """

    def __init__(
        self,
        loop: Loop,
        name: str,
        work: Callable[[Sequence[K]], Iterable[Settled]],
        *,
        at_once: int = 1,
        base_seconds: float = 0.5,
        max_seconds: float = 30.0,
        priority: int = NORMAL,
    ) -> None:
        self._loop, self._name, self._work = loop, name, work
        self._at_once, self._priority = at_once, priority
        self._armed = False
        self.queue: WorkQueue[K] = WorkQueue(loop, self._arm, base_seconds, max_seconds)

    def __len__(self) -> int:
        return len(self.queue)

    def add(self, key: K) -> None:
        """Put the key in line, unless it stands there already."""
        self.queue.add(key)

    def drop(self, key: K) -> None:
        """Take the key out of line, now and later."""
        self.queue.drop(key)

    def _arm(self) -> None:
        if not self._armed:
            self._armed = True
            self._loop.call_soon(self._step, self._priority)

    def _step(self) -> None:
        self._armed = False
        keys = self.queue.take(self._at_once)
        if not keys:
            return
        try:
            outcomes: Iterable[Settled] = list(self._work(keys))
        except BrokenInvariant:
            raise
        except Exception as error:
            outcomes = [error] * len(keys)
        for key, outcome in zip(keys, outcomes, strict=True):
            self._settle(key, outcome)
        if len(self.queue):
            self._arm()

    def _settle(self, key: K, outcome: Settled) -> None:
        queue = self.queue
        if isinstance(outcome, Result):
            queue.forget(key)
            if outcome.again_in is not None:
                queue.add_after(key, outcome.again_in)
        elif isinstance(outcome, Parked):
            outcome.resume(lambda: queue.add(key))
        else:
            queue.add_failed(key)
            self._loop.report(self._name, key, outcome)

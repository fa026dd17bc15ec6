"""The loop: a heap of steps in the order (time, priority, sequence).

A step is a call without arguments that does a little work and returns; it is never cut. The loop
never waits: ``run_due`` plays what is due within a budget and returns, ``next_due`` says when it
wants to be called again. Other threads may only ``post``.
"""

from __future__ import annotations

import heapq
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final, Protocol

from windtunnel.kernel.clock import Clock, VirtualClock

Step = Callable[[], None]

ReportFailure = Callable[[str, Any, Exception], None]
"""(who, at what, what went wrong): told of a failure that will be tried again."""

NORMAL: Final = 10


def _tell_nobody(who: str, key: Any, error: Exception) -> None:
    """Take a report and do nothing about it."""


class Ticket:
    """One scheduled step; ``cancel`` takes it back."""

    __slots__ = ("_step", "when")

    def __init__(self, when: float, step: Step | None) -> None:
        self.when = when
        self._step = step

    def cancel(self) -> None:
        """Make sure the step is not played; harmless afterwards."""
        self._step = None

    @property
    def pending(self) -> bool:
        """Whether the step is still to be played."""
        return self._step is not None


class Actor(Protocol):
    """Something that lives on a loop from ``start`` to ``stop``, in whatever process that is."""

    def start(self) -> None:
        """Watch, and work from the moment everything is known."""

    def stop(self) -> None:
        """Stop; nothing of it happens afterwards."""


class Loop:
    """Plays steps in a total order. One thread owns it; ``wake`` is told when work arrives."""

    def __init__(self, clock: Clock, report: ReportFailure = _tell_nobody) -> None:
        self.clock = clock
        self.report = report
        self.wake: Callable[[], None] | None = None
        """Called, from any thread, when the next due time may have become earlier."""
        self._heap: list[tuple[float, int, int, Ticket]] = []
        self._sequence = 0
        self._posted: deque[Step] = deque()

    def call_soon(self, step: Step, priority: int = NORMAL) -> Ticket:
        """Schedule ``step`` for now."""
        return self.call_at(self.clock.now(), step, priority)

    def call_after(self, seconds: float, step: Step, priority: int = NORMAL) -> Ticket:
        """Schedule ``step`` for ``seconds`` from now."""
        return self.call_at(self.clock.now() + seconds, step, priority)

    def call_at(self, when: float, step: Step, priority: int = NORMAL) -> Ticket:
        """Schedule ``step`` for a time in seconds since the epoch."""
        ticket = Ticket(when, step)
        self._sequence += 1
        earlier = not self._heap or when < self._heap[0][0]
        heapq.heappush(self._heap, (when, priority, self._sequence, ticket))
        if earlier and self.wake is not None:
            self.wake()
        return ticket

    def post(self, step: Step) -> None:
        """Schedule ``step`` for now, from any thread."""
        self._posted.append(step)
        if self.wake is not None:
            self.wake()

    def next_due(self) -> float | None:
        """Return when the next step is due in seconds since the epoch, or None."""
        return self.clock.now() if self._posted else self._next_in_heap()

    def run_due(self, budget_seconds: float = float("inf")) -> bool:
        """Play due steps, at least one if any is due, until the budget is spent.

        Returns:
            Whether a step is still due.
        """
        deadline = time.monotonic() + budget_seconds
        while True:
            self._take_posted()
            # What is posted from here on is not in the heap yet: only the heap says what to play.
            due = self._next_in_heap()
            if due is None or due > self.clock.now():
                return bool(self._posted)
            ticket = heapq.heappop(self._heap)[3]
            step, ticket._step = ticket._step, None
            if step is not None:
                step()
            if time.monotonic() >= deadline:
                due = self.next_due()
                return due is not None and due <= self.clock.now()

    def run_virtual(self, until: float = float("inf")) -> None:
        """Play steps in virtual time, moving the clock, until none is due before ``until``.

        Raises:
            TypeError: the loop's clock cannot be moved.
        """
        if not isinstance(self.clock, VirtualClock):
            raise TypeError("only a loop with a VirtualClock can run in virtual time")
        while (due := self._next_after_posts()) is not None and due <= until:
            self.clock.move_to(due)
            self.run_due()
        if until != float("inf"):
            self.clock.move_to(until)

    def _next_after_posts(self) -> float | None:
        self._take_posted()
        return self.next_due()

    def _next_in_heap(self) -> float | None:
        while self._heap and not self._heap[0][3].pending:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def _take_posted(self) -> None:
        while self._posted:
            self.call_soon(self._posted.popleft())

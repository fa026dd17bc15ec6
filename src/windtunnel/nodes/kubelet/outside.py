"""Work outside the loop: what may block runs in threads, and its outcome comes back as a step.

A step never waits. Whoever needs a process, a plugin's answer or a file that may hang gives the
work away here, with what is to happen then. Threads are made when all others are busy, up to a
limit, and end when there is nothing for them to do: a node that stands still has none. They are
daemons, so a call that hangs for good does not keep the process alive.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from windtunnel.kernel import Loop, Ticket

T = TypeVar("T")

_LIMIT: Final = 128
"""Every container that is stopped holds a thread for its grace; what comes on top waits."""
_IDLE_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Pause:
    """A course waits so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A course asks something that answers in a step: ``ask`` takes whom to tell."""

    ask: Callable[[Callable[[Any], None]], None]


Course = Generator[Callable[[], Any] | Pause | Inquiry, Any, T]
"""What blocks, written from top to bottom: each ``yield`` gives one thing away and takes its result
(or its exception); everything between two yields is played in a step."""


class Outside:
    """Threads for calls that may block.

    Args:
        loop: Where outcomes are handed back.
        threads: At most so many at once; 0 does the work in a step of its own, so that a test
            needs no thread.
    """

    def __init__(self, loop: Loop, threads: int = _LIMIT) -> None:
        self._loop, self._limit = loop, threads
        self._waiting: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._unfinished = 0

    def call(
        self, work: Callable[[], T], then: Callable[[T | Exception], None] | None = None
    ) -> None:
        """Do ``work`` outside; ``then`` takes its result, or its exception, in a step.

        Without ``then`` a failure is only reported.
        """

        def run() -> None:
            outcome: T | Exception
            try:
                outcome = work()
            except Exception as error:
                outcome = error
            self._loop.post(lambda: self._hand_over(work, outcome, then))

        if not self._limit:
            self._loop.call_soon(run)
            return
        self._waiting.put(run)
        with self._lock:
            self._unfinished += 1
            if self._threads >= min(self._limit, self._unfinished):
                return
            self._threads += 1
        threading.Thread(target=self._serve, name="outside", daemon=True).start()

    def follow(self, course: Course[T], then: Callable[[T | Exception], None]) -> Followed:
        """Play a course to its end; ``then`` takes what it returns or raises, in a step."""
        followed = Followed(self, course, then)
        followed.resume(None)
        return followed

    @property
    def loop(self) -> Loop:
        """Return the loop on which outcomes come back."""
        return self._loop

    def _hand_over(
        self,
        work: Callable[[], T],
        outcome: T | Exception,
        then: Callable[[T | Exception], None] | None,
    ) -> None:
        if then is not None:
            then(outcome)
        elif isinstance(outcome, Exception):
            self._loop.report("outside", getattr(work, "__qualname__", work), outcome)

    def _serve(self) -> None:
        """Take work until there has been none for a while; as many threads stay as work is left."""
        while True:
            try:
                run = self._waiting.get(timeout=_IDLE_SECONDS)
            except queue.Empty:
                with self._lock:
                    if self._unfinished < self._threads:
                        self._threads -= 1
                        return
                continue
            run()
            with self._lock:
                self._unfinished -= 1


class Followed:
    """A course that is under way, from the first ``resume`` on."""

    def __init__(self, outside: Outside, course: Course[Any], then: Callable[[Any], None]) -> None:
        self._outside, self._course, self._then = outside, course, then
        self._ended = False
        self._cancelled = False
        self._pause: Ticket | None = None

    def cancel(self) -> None:
        """End the course where it stands; what it has given away is not called back.

        Where that is a call that runs, the course ends when the call has: nobody who comes after
        it meets a call of it that still goes on.
        """
        self._cancelled = True
        if self._pause is not None and self._pause.pending:
            self._pause.cancel()
            self._outside.loop.call_soon(lambda: self.resume(None))

    def resume(self, outcome: Any) -> None:
        """Go on with the outcome of what was given away."""
        if self._ended:
            return
        try:
            if self._cancelled:
                self._course.close()
                raise Cancelled
            if isinstance(outcome, Exception):
                given = self._course.throw(outcome)
            else:
                given = self._course.send(outcome)
        except StopIteration as end:
            self._end(end.value)
        except Exception as error:
            self._end(error)
        else:
            self._give(given)

    def _give(self, given: Callable[[], Any] | Pause | Inquiry) -> None:
        if isinstance(given, Pause):
            self._pause = self._outside.loop.call_after(given.seconds, lambda: self.resume(None))
        elif isinstance(given, Inquiry):
            given.ask(lambda answer: self.resume(answer))
        else:
            self._outside.call(given, self.resume)

    def _end(self, outcome: Any) -> None:
        self._ended = True
        self._then(outcome)


class Cancelled(Exception):
    """A course was cancelled before its end."""

"""Work outside the loop: what may block runs in threads, and its outcome comes back as a step.

A step never waits. Whoever needs a process, a plugin's answer or a file that may hang gives the
work away here, with what is to happen then. Threads are made when all others are busy, up to a
limit, and end when there is nothing for them to do: a node that stands still has none. They are
daemons, so a call that hangs for good does not keep the process alive.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Final, TypeVar

from windtunnel.kernel import Loop

T = TypeVar("T")

_LIMIT: Final = 128
"""Every container that is stopped holds a thread for its grace; what comes on top waits."""
_IDLE_SECONDS: Final = 10.0


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

"""The reconciler protocol, and the worker that plays reconcilers as steps of the loop.

A reconciler brings one named thing in line with what is wanted, reading the present state itself.
The same reconciler runs embedded and attached; only its client, its clock and its pace differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from windtunnel.errors import BrokenInvariant
from windtunnel.kernel.loop import NORMAL, Loop
from windtunnel.kernel.workqueue import WorkQueue


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one visit: done, or ``again_in`` so many seconds."""

    again_in: float | None = None


DONE: Final = Result()


class Parked(Exception):
    """A write inside a step needs an answer from outside (a webhook).

    ``resume`` registers a call for the moment the answer is there; the worker uses it to put the
    key back in line. The step itself is abandoned: a reconciler is safe to run twice.
    """

    def __init__(self, resume: Callable[[Callable[[], None]], None]) -> None:
        super().__init__("the write waits for an answer from outside")
        self.resume = resume


class Reconciler(Protocol):
    """Brings one named thing in line."""

    name: str

    def reconcile(self, key: Any) -> Result:
        """Visit one key. Exceptions other than Parked mean: try again with backoff."""


class Worker:
    """Plays one reconciler's queue on the loop, one visit a step."""

    def __init__(
        self,
        loop: Loop,
        reconciler: Reconciler,
        report: Callable[[str, Any, Exception], None],
        priority: int = NORMAL,
    ) -> None:
        self._loop, self._reconciler, self._report = loop, reconciler, report
        self._priority = priority
        self._armed = False
        self.queue: WorkQueue[Any] = WorkQueue(loop, self._arm)

    def _arm(self) -> None:
        if not self._armed:
            self._armed = True
            self._loop.call_soon(self._step, self._priority)

    def _step(self) -> None:
        self._armed = False
        key = self.queue.take()
        if key is None:
            return
        try:
            result = self._reconciler.reconcile(key)
        except BrokenInvariant:
            raise
        except Parked as parked:
            parked.resume(lambda: self.queue.add(key))
        except Exception as error:
            self.queue.add_failed(key)
            self._report(self._reconciler.name, key, error)
        else:
            self.queue.forget(key)
            if result.again_in is not None:
                self.queue.add_after(key, result.again_in)
        if len(self.queue):
            self._arm()

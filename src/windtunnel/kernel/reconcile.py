"""The reconciler protocol, and the worker that plays reconcilers as steps of the loop.

A reconciler brings one named thing in line with what is wanted, reading the present state itself.
The same reconciler runs embedded and attached; only its client, its clock and its pace differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol

from windtunnel.kernel.line import Line, Result, Settled
from windtunnel.kernel.loop import NORMAL, Loop

_BASE_SECONDS: Final = 0.005
_MAX_SECONDS: Final = 1000.0


class Reconciler(Protocol):
    """Brings one named thing in line."""

    name: str

    def reconcile(self, key: Any) -> Result:
        """Visit one key. Exceptions other than Parked mean: try again with backoff."""


class Worker:
    """Plays one reconciler's queue on the loop, one visit a step.

    Source: client-go's default rate limiter for the backoff.
    """

    def __init__(self, loop: Loop, reconciler: Reconciler, priority: int = NORMAL) -> None:
        self._reconciler = reconciler
        line: Line[Any] = Line(
            loop,
            reconciler.name,
            self._visit,
            base_seconds=_BASE_SECONDS,
            max_seconds=_MAX_SECONDS,
            priority=priority,
        )
        self.queue = line.queue

    def _visit(self, keys: Sequence[Any]) -> list[Settled]:
        return [self._reconciler.reconcile(key) for key in keys]

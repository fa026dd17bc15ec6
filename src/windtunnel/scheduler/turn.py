"""One pod's turn: what came of it, and how it is taken in pieces.

Most turns are over at once. Making room may mean trying thousands of nodes, so that it pauses
between pods it tries; nothing the scheduler knows may change before the turn is over.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Literal

from windtunnel.fleet import PodView
from windtunnel.placement.search import Decision
from windtunnel.scheduler.preemption import Preemption


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of a pod's turn, and what is to be written because of it."""

    pod: PodView
    outcome: Literal["placed", "unschedulable", "skipped"]
    decision: Decision | None = None
    preemption: Preemption | None = None
    message: str = ""
    """Why there is no node, in full."""
    renominated: bool = False
    """Whether the pod's nomination changed; ``pod.nominated`` is what it is now."""
    demoted: tuple[PodView, ...] = ()
    """Pods that lose their nomination to this one."""

    @property
    def node(self) -> str:
        """The node the pod goes to, or ""."""
        return self.decision.node if self.decision else ""


class Turn:
    """One pod's turn, in as many pieces as it takes."""

    def __init__(
        self, course: Generator[None, None, Attempt | None], over: Callable[[], None]
    ) -> None:
        self.attempt: Attempt | None = None
        """What came of it; None: nobody was in line."""
        self._course, self._over = course, over

    def go_on(self, pieces: int | None = None) -> bool:
        """Go on for so many pieces (None: to the end); says whether the turn is over."""
        try:
            while pieces is None or pieces > 0:
                next(self._course)
                if pieces is not None:
                    pieces -= 1
        except StopIteration as end:
            self.attempt = end.value
            self._over()
            return True
        return False

    def give_up(self) -> None:
        """Leave the turn as it is; trials under way are undone."""
        self._course.close()
        self._over()

"""Questions to plugins, written from top to bottom and played so that nobody waits.

Pods are admitted one after the other: who comes while questions are being asked stands in line,
for what is free is known only when those before have been answered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from windtunnel.kernel import Loop
from windtunnel.nodes.kubelet.outside import Outside

R = TypeVar("R")

Questions = Generator[Callable[[], Any], Any, R]
"""Yields calls that may block, is sent their answers, returns what comes of them."""


class QuestionLine:
    """Plays questions; those that stand in line one after the other.

    Args:
        loop: On whose thread questions go on.
        outside: Where their calls are made.
    """

    def __init__(self, loop: Loop, outside: Outside) -> None:
        self._loop, self._outside = loop, outside
        self._waiting: deque[Callable[[], None]] = deque()
        self._busy = False
        self._open = False

    def open(self) -> None:
        """Let the line move."""
        self._open = True

    def close(self) -> None:
        """Forget who stands in line, and let nobody move any more."""
        self._open = False
        self._waiting.clear()

    def append(self, questions: Questions[R], then: Callable[[R], None]) -> None:
        """Play questions after all those that stand in line; ``then`` takes what comes of them."""

        def finished(outcome: R) -> None:
            self._busy = False
            then(outcome)
            self._move()

        self._waiting.append(lambda: self.play(questions, finished))
        self._loop.call_soon(self._move)

    def play(self, questions: Questions[R], then: Callable[[R], None]) -> None:
        """Play questions past the line; ``then`` takes, in a step, what comes of them."""

        def advance(answer: object) -> None:
            try:
                if isinstance(answer, Exception):
                    work = questions.throw(answer)
                else:
                    work = questions.send(answer)
            except StopIteration as end:
                then(end.value)
                return
            self._outside.call(work, advance)

        self._loop.call_soon(lambda: advance(None))

    def _move(self) -> None:
        if self._waiting and not self._busy and self._open:
            self._busy = True
            self._waiting.popleft()()

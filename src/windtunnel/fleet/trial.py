"""What takes a trial back: a line of steps, played from its end.

Trials nest: a level ends by playing the steps that were noted since it began.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

Undo = Callable[[], None]


class Level(NamedTuple):
    """One trial that is under way."""

    outermost: bool
    mark: int
    nodes_kept: bool
    """What ``Trials.nodes_kept`` was outside of it."""


class Trials:
    """The trials under way, one inside the other."""

    def __init__(self) -> None:
        self.steps: list[Undo] | None = None
        """What takes everything back, in the order in which it was done; None: no trial."""
        self.nodes_kept = False
        """Whether the innermost trial can bring back the nodes that it found."""

    def begin(self) -> Level:
        """Begin a trial inside those that are under way."""
        if self.steps is None:
            self.steps = []
            level = Level(True, 0, False)
        else:
            level = Level(False, len(self.steps), self.nodes_kept)
        self.nodes_kept = False
        return level

    def end(self, level: Level) -> None:
        """Take back what was noted since ``level`` began."""
        steps = self.steps
        assert steps is not None
        while len(steps) > level.mark:
            steps.pop()()
        self.nodes_kept = level.nodes_kept
        if level.outermost:
            self.steps = None

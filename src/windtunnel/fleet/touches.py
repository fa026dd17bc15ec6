"""Which rows have changed since when, so that judgements are brought up to date row by row.

Pods of a row come and go all the time, what its node is changes now and then: who only asks for the
latter is told apart. While a pool of nodes comes up there are thousands of such changes, between
which pods are placed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

_KEPT: Final = 1 << 16


class Mark(NamedTuple):
    """A moment in the fleet's life."""

    epoch: int
    position: int
    rewritten: int

    @property
    def nodes(self) -> tuple[int, int]:
        """Equal at two moments between which no node changed."""
        return self.epoch, self.rewritten


class Touches:
    """Rows that changed, in order; an epoch ends when rows come, go or trade places."""

    def __init__(self) -> None:
        self.epoch = 0
        self.seen = False
        """Whether anybody marked a moment inside the outermost trial."""
        self._rows: list[int] = []
        self._rewritten: list[int] = []

    def add(self, row: int) -> None:
        """Note that the pods of a row changed."""
        self._rows.append(row)
        if len(self._rows) > _KEPT:
            self.everything()

    def rewrite(self, row: int) -> None:
        """Note that what the node of a row is has changed, outside of any trial."""
        self._rewritten.append(row)
        self.add(row)

    def everything(self) -> None:
        """Begin an epoch: whatever was known of rows must be looked at again."""
        self._rows.clear()
        self._rewritten.clear()
        self.epoch += 1

    def now(self) -> Mark:
        """Return the present moment without being seen."""
        return Mark(self.epoch, len(self._rows), len(self._rewritten))

    def since(self, mark: Mark) -> Sequence[int] | None:
        """Return the rows that changed since ``mark``; None: all of them may have."""
        return self._rows[mark.position :] if mark.epoch == self.epoch else None

    def rewritten_since(self, mark: Mark) -> Sequence[int]:
        """Return those of the rows that changed since a mark of this epoch whose nodes did."""
        return self._rewritten[mark.rewritten :]

    def take_back(self, mark: Mark) -> None:
        """Forget what was noted since ``mark`` where nobody saw it: all is as it was."""
        if not self.seen and mark.epoch == self.epoch:
            del self._rows[mark.position :]

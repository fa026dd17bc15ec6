"""The words in which rules of placement answer.

"No" is a value: every node that is refused has a code and reasons, and *never* (removing pods would
not help) is told from *not now*.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

import numpy as np

from windtunnel.fleet import Bools


class Code(Enum):
    """How a rule ends; the values are the real scheduler's words."""

    SUCCESS = "Success"
    SKIP = "Skip"
    UNSCHEDULABLE = "Unschedulable"
    UNRESOLVABLE = "UnschedulableAndUnresolvable"
    ERROR = "Error"


class Scope(Enum):
    """What an answer depends on, and so when it must be asked again."""

    FACTS = "facts"
    """Only on what the nodes are."""
    RESOURCES = "resources"
    """Also on what the judged node has and what its pods take."""
    ROW = "row"
    """Also on other things about the pods of the judged node."""
    FLEET = "fleet"
    """Also on pods elsewhere."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A filter's answer for every row of a view."""

    passes: Bools
    unresolvable: Bools
    """Rows refused where removing pods would not help."""
    reasons: tuple[tuple[str, Bools], ...] = ()
    """Reason and the rows it is given for, in the order in which one node names them."""


@dataclass(frozen=True, slots=True)
class Entrance:
    """A rule's answer before it sees nodes: go on, nothing to do, only these nodes, or no."""

    code: Code = Code.SUCCESS
    reasons: tuple[str, ...] = ()
    names: frozenset[str] | None = None
    """The only nodes that can pass; None: all."""


GO_ON: Final = Entrance()
NOTHING_TO_DO: Final = Entrance(Code.SKIP)


def refuse(refused: Bools, reason: str, *, unresolvable: bool) -> Verdict:
    """Return the verdict of a rule with one reason."""
    never = refused if unresolvable else np.zeros_like(refused)
    return Verdict(~refused, never, ((reason, refused),) if refused.any() else ())

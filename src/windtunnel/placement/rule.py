"""What a rule of placement is: a filter or a score over a view, with what may change its answer.

The rules themselves are in ``placement.rules``, one a file. A rule is an immutable value made from
its arguments; it holds no state of the cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from windtunnel.fleet import FleetView, Ints, PodView
from windtunnel.placement.relief import Relief
from windtunnel.placement.verdict import Entrance, Scope, Verdict


class Filter(Protocol):
    """Says which nodes a pod may go to."""

    @property
    def name(self) -> str:
        """The plugin's name in profiles and answers."""

    @property
    def scope(self) -> Scope:
        """What the verdicts depend on."""

    def admit(self, pod: PodView, view: FleetView) -> Entrance:
        """Answer before nodes are looked at; SKIP leaves the filter out for this pod."""

    def filter(self, pod: PodView, view: FleetView) -> Verdict:
        """Judge every row of the view."""

    def relieved(self, pod: PodView, relief: Relief, view: FleetView) -> bool:
        """Say whether the news may let a pod in that this rule refused."""


class RowScore(Protocol):
    """Scores a node by itself, whatever other nodes are there."""

    @property
    def name(self) -> str:
        """The plugin's name in profiles and answers."""

    @property
    def scope(self) -> Scope:
        """FACTS or RESOURCES."""

    def applies(self, pod: PodView, view: FleetView) -> bool:
        """Say whether the score is given at all for this pod."""

    def rate(self, pod: PodView, view: FleetView) -> Ints:
        """Return 0 to 100 for every row of the view."""


class SetScore(Protocol):
    """Scores the feasible nodes against each other."""

    @property
    def name(self) -> str:
        """The plugin's name in profiles and answers."""

    @property
    def scope(self) -> Scope:
        """FACTS or FLEET: what it depends on whether the score applies."""

    def applies(self, pod: PodView, view: FleetView) -> bool:
        """Say whether the score is given at all for this pod."""

    def same(self, pod: PodView, view: FleetView) -> int | None:
        """Return the score that all nodes get, whichever are feasible; None where they differ."""

    def compare(self, pod: PodView, view: FleetView) -> Ints:
        """Return 0 to 100 for every row of the view, which holds exactly the feasible nodes."""


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules by which one kind of pod is placed, in the order in which they are asked."""

    filters: tuple[Filter, ...]
    row_scores: tuple[tuple[RowScore, int], ...]
    """With weights, as the other scores."""
    set_scores: tuple[tuple[SetScore, int], ...]
    percentage: int = 0
    """How many nodes a search looks at before it is content; 0 adapts to the size of the fleet."""

    @property
    def scores_anything(self) -> bool:
        """Without any score the first feasible node is taken."""
        return bool(self.row_scores or self.set_scores)


def normalised(raw: Ints, *, reverse: bool = False) -> Ints:
    """Stretch raw scores so that the largest is 100 (or, reversed, 0)."""
    largest = int(raw.max(initial=0))
    if largest == 0:
        return raw + 100 if reverse else raw
    scaled = raw * 100 // largest
    return 100 - scaled if reverse else scaled

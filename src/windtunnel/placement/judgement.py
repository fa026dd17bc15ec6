"""Verdicts and scores of one shape of pod over all nodes, kept true row by row.

Pods of one shape share a judgement. After a placement only the touched row is asked again, and rows
in the same state (equal capacity, equal load) share their answer, so that one more pod costs the
same on 100 nodes and on 100,000. Only rules that look at pods elsewhere are asked anew about every
row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from windtunnel.fleet import (
    Bools,
    Fleet,
    FleetView,
    Ints,
    Mark,
    PodView,
    Rows,
    distinct,
    numbered,
)
from windtunnel.placement.rule import Filter, RowScore
from windtunnel.placement.verdict import Code, Scope

_FEW: Final = 64
"""Up to so many touched rows are looked up one by one; more are judged together."""
_LADDER: Final = 8
"""So many pods of one shape are thought ahead for a row in a state that is new."""
_STATES_KEPT: Final = 1 << 16


class Refusal(NamedTuple):
    """Why a node is refused: the first filter that said no, and its words."""

    code: Code
    plugin: str
    reasons: tuple[str, ...]


class Judgement:
    """What the filters and row scores of a profile say about one shape."""

    def __init__(
        self,
        fleet: Fleet,
        filters: Sequence[Filter],
        scores: Sequence[tuple[RowScore, int]],
        pod: PodView,
    ) -> None:
        self.filters = tuple(filters)
        """The filters that apply, in order."""
        self.feasible: Ints = np.zeros(0, np.int64)
        """Rows that pass every filter, ascending."""
        self.totals: Ints = np.zeros(0, np.int64)
        """Weighted sum of the row scores, for every row."""
        self._fleet, self._pod = fleet, pod
        fleet.vector(pod.shape)  # its resources have columns before any state is looked up
        self._scores = [(one, weight) for one, weight in scores if one.applies(pod, fleet.view())]
        self._by_scope = {
            scope: [one for one in self.filters if one.scope is scope] for scope in Scope
        }
        self._restless = [*self._by_scope[Scope.ROW], *self._by_scope[Scope.FLEET]]
        """Filters whose answer a row's resources do not decide."""
        self._memo: dict[tuple[int, bytes], tuple[bool, int]] = {}
        self._tried: dict[tuple[int, bytes], bool] = {}
        """What fits, of states that only trials have come to."""
        self._passes: Bools = np.zeros(0, np.bool_)
        self._facts: Bools = np.zeros(0, np.bool_)
        self._fits: Bools = np.zeros(0, np.bool_)
        self._others: Bools = np.zeros(0, np.bool_)
        self._facts_total: Ints = np.zeros(0, np.int64)
        self._mark: Mark | None = None

    def refresh(self) -> None:
        """Follow what happened in the fleet since the last look."""
        mark = self._mark
        touched = self._fleet.touched_since(mark) if mark is not None else None
        if mark is None or touched is None:
            self._judge_all()
            self._mark = self._fleet.mark()
            return
        if not touched:
            return
        rewritten = self._fleet.rewritten_since(mark)
        if rewritten:
            self._judge_facts(distinct(np.array(rewritten, np.int64)))
        if self._restless:
            self._judge_resources(distinct(np.array(touched, np.int64)))
            self._judge_others()
        elif len(touched) <= _FEW:
            for row in touched if len(touched) == 1 else set(touched):
                self._look_up(row)
        else:
            self._judge_resources(distinct(np.array(touched, np.int64)))
            self._gather()
        self._mark = self._fleet.mark()

    def refusal(self, row: int) -> Refusal | None:
        """Judge one node as it is now, trials included; None where it is feasible."""
        if self.admits(row):
            return None
        view = self._fleet.view(slice(row, row + 1))
        for one in self.filters:
            verdict = one.filter(self._pod, view)
            if not verdict.passes[0]:
                never = bool(verdict.unresolvable[0])
                reasons = tuple(reason for reason, rows in verdict.reasons if rows[0])
                return Refusal(_code(never), one.name, reasons)
        return None

    def admits(self, row: int) -> bool:
        """Say whether one node is feasible as it is now, trials included, without asking why."""
        if not self._facts[row] or not self._fits_now(row):
            return False
        if not self._restless:
            return True
        view = self._fleet.view(slice(row, row + 1))
        return all(one.filter(self._pod, view).passes[0] for one in self._restless)

    def refusals(self, rows: Ints) -> list[tuple[Refusal, Ints]]:
        """Return why the given rows are refused, grouped; feasible rows are left out."""
        groups: list[tuple[Refusal, Ints]] = []
        left = rows
        for one in self.filters:
            if not len(left):
                break
            verdict = one.filter(self._pod, self._fleet.view(left))
            refused = ~verdict.passes
            if not refused.any():
                continue
            never = verdict.unresolvable[refused]
            members = numbered(never.astype(np.int64))
            for _, mask in verdict.reasons:
                members = numbered(2 * members + mask[refused])
            places = np.flatnonzero(refused)
            for group in range(int(members.max()) + 1):
                here = places[members == group]
                reasons = tuple(reason for reason, mask in verdict.reasons if mask[here[0]])
                refusal = Refusal(_code(bool(verdict.unresolvable[here[0]])), one.name, reasons)
                groups.append((refusal, left[here]))
            left = left[~refused]
        return groups

    def row_scores(self, rows: Rows) -> list[tuple[str, Ints]]:
        """Return each row score of some rows, weighted, for those who want to see them."""
        view = self._fleet.view(rows)
        return [(one.name, one.rate(self._pod, view) * weight) for one, weight in self._scores]

    def _judge_all(self) -> None:
        view = self._fleet.view()
        self._memo.clear()
        self._tried.clear()
        self._facts = self._filtered(Scope.FACTS, view)
        self._facts_total = self._rated(Scope.FACTS, view)
        self._fits = self._filtered(Scope.RESOURCES, view)
        self.totals = self._facts_total + self._rated(Scope.RESOURCES, view)
        self._judge_others()

    def _judge_facts(self, rows: Ints) -> None:
        view = self._fleet.view(rows)
        self._facts[rows] = self._filtered(Scope.FACTS, view)
        self._facts_total[rows] = self._rated(Scope.FACTS, view)

    def _judge_resources(self, rows: Ints) -> None:
        view = self._fleet.view(rows)
        self._fits[rows] = self._filtered(Scope.RESOURCES, view)
        self.totals[rows] = self._facts_total[rows] + self._rated(Scope.RESOURCES, view)

    def _judge_others(self) -> None:
        view = self._fleet.view()
        self._others = self._filtered(Scope.ROW, view) & self._filtered(Scope.FLEET, view)
        self._gather()

    def _gather(self) -> None:
        self._passes = self._facts & self._fits & self._others
        self.feasible = np.flatnonzero(self._passes)

    def _at(self, row: int) -> tuple[bool, int]:
        """Return whether a row in its present state fits, and the score of its resources."""
        state = self._fleet.state(row)
        known = self._memo.get(state)
        if known is None:
            self._think_ahead(row)
            known = self._memo[state]
        return known

    def _fits_now(self, row: int) -> bool:
        """Return whether a row in its present state fits, for those who need no score."""
        state = self._fleet.state(row)
        known = self._memo.get(state)
        if known is not None:
            return known[0]
        fits = self._tried.get(state)
        if fits is None:
            if len(self._tried) >= _STATES_KEPT:
                self._tried.clear()
            view = self._fleet.view(slice(row, row + 1))
            fits = self._tried[state] = bool(self._filtered(Scope.RESOURCES, view)[0])
        return fits

    def _look_up(self, row: int) -> None:
        fits, total = self._at(row)
        self.totals[row] = self._facts_total[row] + total
        self._fits[row] = fits
        passes = fits and self._facts[row] and self._others[row]
        if passes != self._passes[row]:
            self._passes[row] = passes
            place = int(self.feasible.searchsorted(row))
            if passes:
                self.feasible = np.insert(self.feasible, place, row)
            else:
                self.feasible = np.delete(self.feasible, place)

    def _think_ahead(self, row: int) -> None:
        """Judge a row's state, and those that more pods of this shape would bring it to."""
        if len(self._memo) >= _STATES_KEPT:
            self._memo.clear()
        shape = self._pod.shape
        view = self._fleet.ladder(row, shape, _LADDER)
        fits = self._filtered(Scope.RESOURCES, view).tolist()
        totals = self._rated(Scope.RESOURCES, view).tolist()
        load, more = self._fleet.load[row], self._fleet.vector(shape)
        for step, answer in enumerate(zip(fits, totals, strict=True)):
            self._memo[self._fleet.state(row, load + step * more)] = answer

    def _filtered(self, scope: Scope, view: FleetView) -> Bools:
        passes = np.ones(len(view), np.bool_)
        for one in self._by_scope[scope]:
            passes &= one.filter(self._pod, view).passes
        return passes

    def _rated(self, scope: Scope, view: FleetView) -> Ints:
        total = np.zeros(len(view), np.int64)
        for one, weight in self._scores:
            if one.scope is scope:
                total += one.rate(self._pod, view) * weight
        return total


def _code(never: bool) -> Code:
    return Code.UNRESOLVABLE if never else Code.UNSCHEDULABLE

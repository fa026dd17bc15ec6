"""One search for a node: gate, filters, sampling, scores, the winner.

The cycle knows no API and changes nothing; whoever asked decides what to do with the decision. One
cycle serves one set of rules and remembers where its last walk over the nodes ended.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

import numpy as np

from windtunnel.fleet import Fleet, Ints, PodView
from windtunnel.placement.judgement import Judgement, Refusal
from windtunnel.placement.rule import Filter, RuleSet, SetScore
from windtunnel.placement.search.decision import Decision, Gate, RefusedNodes, Scores
from windtunnel.placement.search.nominations import Nominations
from windtunnel.placement.search.sampling import feasible_wanted, walk, winner
from windtunnel.placement.verdict import Code, Entrance, Scope

_ROWS_KEPT: Final = 4_000_000
"""Rows over all kept judgements; about 40 bytes each."""


class _Case(NamedTuple):
    """What is known about one shape of pod: the gate it passed, and its judgement."""

    nodes: tuple[int, int]
    """The moment since which no node may have changed (``Mark.nodes``)."""
    answers: tuple[Entrance, ...]
    """What the rules that look at pods elsewhere said at the gate."""
    gate: Gate
    judgement: Judgement | None
    telling: tuple[tuple[SetScore, int], ...]
    """Scores that may tell feasible nodes apart."""


class Rotation:
    """Where the next walk over the nodes begins; the cycles of one scheduler share it."""

    def __init__(self) -> None:
        self.start = 0


class Cycle:
    """Searches nodes for the pods that one set of rules concerns."""

    def __init__(
        self,
        fleet: Fleet,
        rules: RuleSet,
        nominations: Nominations,
        rotation: Rotation | None = None,
    ) -> None:
        self.fleet, self.rules, self.nominations = fleet, rules, nominations
        self._rotation = rotation or Rotation()
        self._restless = tuple(one for one in rules.filters if one.scope is Scope.FLEET)
        self._cases: OrderedDict[tuple[object, ...], _Case] = OrderedDict()

    def decide(self, pod: PodView, *, details: bool = False) -> Decision:
        """Search a node for ``pod``; ``details`` keeps every verdict and score."""
        places = len(self.fleet.names)
        if not places:
            return Decision(pod.key, "", 0)
        case = self._case(pod)
        judgement = case.judgement
        if judgement is None:
            return Decision(pod.key, "", places, gate=case.gate)
        self.fleet.recount_images()
        judgement.refresh()
        barred = self._barred(pod, judgement) if self.nominations else {}
        if not pod.nominated or pod.nominated not in self.fleet.row_of:
            return self._search(pod, case, judgement, barred, None, details)
        row = self.fleet.row_of[pod.nominated]
        refusal = barred.get(row) or judgement.refusal(row)
        if refusal is not None:
            tried = RefusedNodes(refusal, (pod.nominated,))
            return self._search(pod, case, judgement, barred, tried, details)
        return Decision(
            pod.key,
            pod.nominated,
            places,
            feasible=1,
            passed=1,
            gate=case.gate,
            nominated_tried=pod.nominated,
            found=(pod.nominated,) if details else (),
        )

    def judge(self, pod: PodView) -> Judgement | None:
        """Return the current judgement of a pod's shape; None where no node is to be looked at."""
        judgement = self._case(pod).judgement if self.fleet.names else None
        if judgement is not None:
            judgement.refresh()
        return judgement

    def refusal(self, pod: PodView, judgement: Judgement, row: int) -> Refusal | None:
        """Judge one node with those who wait for it, and without; both must let the pod in."""
        ahead = self.nominations.ahead_of(pod, self.fleet.names[row]) if self.nominations else []
        if ahead:
            with self._with_nominated(ahead, row):
                refusal = judgement.refusal(row)
            if refusal is not None:
                return refusal
        return judgement.refusal(row)

    def admits(self, pod: PodView, judgement: Judgement, row: int) -> bool:
        """Say whether one node lets the pod in, with those who wait for it and without."""
        ahead = self.nominations.ahead_of(pod, self.fleet.names[row]) if self.nominations else []
        if ahead:
            with self._with_nominated(ahead, row):
                if not judgement.admits(row):
                    return False
        return judgement.admits(row)

    def _search(
        self,
        pod: PodView,
        case: _Case,
        judgement: Judgement,
        barred: dict[int, Refusal],
        tried: RefusedNodes | None,
        details: bool,
    ) -> Decision:
        """Walk the nodes and pick the winner; ``tried`` is the nominated node, refused."""
        gate, names = case.gate, self.fleet.names
        feasible = judgement.feasible
        if barred:
            feasible = feasible[~np.isin(feasible, list(barred))]
        only: Ints | None = None
        places = len(names)
        if gate.names is not None:
            row_of = self.fleet.row_of
            only = np.array(sorted(row_of[name] for name in gate.names if name in row_of), np.int64)
            places = len(only)
            feasible = np.flatnonzero(np.isin(only, feasible))
        wanted = feasible_wanted(places, self.rules.percentage)
        if not self.rules.scores_anything:
            wanted = min(wanted, 1)
        start = self._rotation.start % places if places else 0
        found, passed, surplus = walk(feasible, places, start, wanted)
        refused: tuple[RefusedNodes, ...] = ()
        counted = passed
        if details or tried is not None or not len(found):
            looked_at = np.arange(start, start + passed) % max(places, 1)
            if only is not None:
                looked_at = only[looked_at]
            refused = self._refused(judgement, looked_at, barred)
            if tried is not None and self.fleet.row_of[tried.nodes[0]] not in looked_at:
                refused = (tried, *refused)
                counted += 1
        if only is not None:
            found = only[found]
            surplus = surplus if surplus is None else int(only[surplus])
        self._rotation.start = (self._rotation.start + counted) % len(names)
        node, scores = "", None
        if len(found) == 1:
            node = names[int(found[0])]
        elif len(found):
            node, scores = self._pick(pod, judgement, case.telling, found, details)
        return Decision(
            pod.key,
            node,
            len(names),
            len(found),
            passed,
            gate,
            tried.nodes[0] if tried is not None else "",
            refused,
            tuple(names[row] for row in found.tolist()) if details else (),
            names[surplus] if details and surplus is not None else "",
            scores,
        )

    def _pick(
        self,
        pod: PodView,
        judgement: Judgement,
        telling: tuple[tuple[SetScore, int], ...],
        found: Ints,
        details: bool,
    ) -> tuple[str, Scores | None]:
        """Return the winner among feasible nodes, and the scores where they are asked for."""
        fleet = self.fleet
        totals = judgement.totals.take(found)
        view = fleet.view()
        parts: list[tuple[str, Ints]] = []
        for score, weight in self.rules.set_scores if details else telling:
            if not score.applies(pod, view):
                continue
            same = score.same(pod, view) if details else None
            if same is None:
                part = score.compare(pod, fleet.view(found)) * weight
            else:
                part = np.full(len(found), same * weight, np.int64)
            totals += part
            parts.append((score.name, part))
        names = fleet.names
        node = names[int(found[winner(totals)])]
        if not details:
            return node, None
        parts += judgement.row_scores(found)
        return node, Scores(
            tuple(names[row] for row in found.tolist()),
            {name: tuple(part.tolist()) for name, part in parts},
            tuple(totals.tolist()),
        )

    def _case(self, pod: PodView) -> _Case:
        """Return what is known about a pod's shape, learned again where it may have changed."""
        view = self.fleet.view()
        answers = tuple([one.admit(pod, view) for one in self._restless])
        nodes = self.fleet.mark().nodes
        key = (pod.shape, pod.owner, pod.node)
        case = self._cases.get(key)
        if case is not None and case.nodes == nodes and case.answers == answers:
            self._cases.move_to_end(key)
            return case
        gate, filters = self._gate(pod)
        judgement = None
        if gate.code is Code.SUCCESS:
            judgement = case.judgement if case is not None else None
            if judgement is None or judgement.filters != filters:
                judgement = Judgement(self.fleet, filters, self.rules.row_scores, pod)
        telling = tuple(
            (score, weight)
            for score, weight in self.rules.set_scores
            if score.scope is Scope.FLEET
            or (score.applies(pod, view) and score.same(pod, view) is None)
        )
        case = self._cases[key] = _Case(nodes, answers, gate, judgement, telling)
        if len(self._cases) * len(self.fleet.names) > _ROWS_KEPT:
            self._cases.popitem(last=False)
        return case

    def _gate(self, pod: PodView) -> tuple[Gate, tuple[Filter, ...]]:
        view = self.fleet.view()
        active: list[Filter] = []
        names: frozenset[str] | None = None
        restricting: list[str] = []
        postponed: Gate | None = None
        for one in self.rules.filters:
            answer = one.admit(pod, view)
            if answer.code is Code.SKIP:
                continue
            if answer.code is Code.UNRESOLVABLE:
                return Gate(answer.code, one.name, answer.reasons), ()
            if answer.code is not Code.SUCCESS:
                postponed = Gate(answer.code, one.name, answer.reasons)
                continue
            active.append(one)
            if answer.names is not None:
                restricting.append(one.name)
                names = answer.names if names is None else names & answer.names
                if not names:
                    return _nowhere(tuple(sorted(restricting))), ()
        if postponed is not None:
            return postponed, ()
        if names is None:
            return _OPEN, tuple(active)
        return Gate(names=tuple(sorted(names)), restricting=tuple(sorted(restricting))), tuple(
            active
        )

    def _barred(self, pod: PodView, judgement: Judgement) -> dict[int, Refusal]:
        """Return the rows that are refused because others already wait for them."""
        barred: dict[int, Refusal] = {}
        for node in self.nominations.nodes():
            row = self.fleet.row_of.get(node)
            ahead = self.nominations.ahead_of(pod, node)
            if row is None or not ahead:
                continue
            with self._with_nominated(ahead, row):
                refusal = judgement.refusal(row)
            if refusal is not None:
                barred[row] = refusal
        return barred

    @contextmanager
    def _with_nominated(self, pods: Sequence[PodView], row: int) -> Iterator[None]:
        with self.fleet.what_if():
            for one in pods:
                self.fleet.place(one, self.fleet.names[row])
            yield

    def _refused(
        self, judgement: Judgement, rows: Ints, barred: dict[int, Refusal]
    ) -> tuple[RefusedNodes, ...]:
        names = self.fleet.names
        special = [row for row in rows.tolist() if row in barred] if barred else []
        if special:
            rows = rows[~np.isin(rows, special)]
        groups: dict[Refusal, list[str]] = {}
        for refusal, refused in judgement.refusals(rows):
            groups.setdefault(refusal, []).extend(names[row] for row in refused.tolist())
        for row in special:
            groups.setdefault(barred[row], []).append(names[row])
        return tuple(RefusedNodes(refusal, tuple(nodes)) for refusal, nodes in groups.items())


_OPEN: Final = Gate()


def _nowhere(restricting: tuple[str, ...]) -> Gate:
    if len(restricting) == 1:
        reason = f"node(s) didn't satisfy plugin {restricting[0]}"
    else:
        reason = f"node(s) didn't satisfy plugin(s) [{' '.join(restricting)}] simultaneously"
    return Gate(Code.UNRESOLVABLE, reasons=(reason,), restricting=restricting)

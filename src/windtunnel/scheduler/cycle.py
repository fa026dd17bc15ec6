"""One search for a node: gate, filters, sampling, scores, the winner.

The cycle knows no API and changes nothing; whoever asked decides what to do with the decision. One
cycle serves one profile and remembers where its last walk over the nodes ended.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

import numpy as np

from windtunnel.fleet import Code, Filter, Fleet, Ints, PodView
from windtunnel.placement import Judgement, Refusal
from windtunnel.scheduler.decision import Decision, Gate, Refused, Scores
from windtunnel.scheduler.nominations import Nominations
from windtunnel.scheduler.profile import Profile
from windtunnel.scheduler.sampling import feasible_wanted, walk, winner

_ROWS_KEPT: Final = 4_000_000
"""Rows over all kept judgements; about 40 bytes each."""


class _Gated(NamedTuple):
    gate: Gate
    filters: tuple[Filter, ...]


class Rotation:
    """Where the next walk over the nodes begins; shared by the profiles of a scheduler."""

    def __init__(self) -> None:
        self.start = 0


class Cycle:
    """Searches nodes for pods of one profile."""

    def __init__(
        self,
        fleet: Fleet,
        profile: Profile,
        nominations: Nominations,
        rotation: Rotation | None = None,
    ) -> None:
        self.fleet, self.profile, self.nominations = fleet, profile, nominations
        self._rotation = rotation or Rotation()
        self._judgements: OrderedDict[tuple[object, ...], Judgement] = OrderedDict()

    def decide(self, pod: PodView, *, details: bool = False) -> Decision:
        """Search a node for ``pod``; ``details`` keeps every verdict and score."""
        places = len(self.fleet.names)
        if not places:
            return Decision(pod.key, "", 0)
        gate, filters = self._gate(pod)
        if gate.code is not Code.SUCCESS:
            return Decision(pod.key, "", places, gate=gate)
        judgement = self._judgement(pod, filters)
        judgement.refresh()
        barred = self._barred(pod, judgement) if self.nominations else {}
        tried = pod.nominated if pod.nominated in self.fleet.row_of else ""
        before: list[Refused] = []
        if tried:
            row = self.fleet.row_of[tried]
            refusal = barred.get(row) or judgement.refusal(row)
            if refusal is None:
                return Decision(
                    pod.key,
                    tried,
                    places,
                    feasible=1,
                    passed=1,
                    gate=gate,
                    nominated_tried=tried,
                    found=(tried,) if details else (),
                )
            before = [Refused(refusal, (tried,))]
        return self._search(pod, gate, judgement, barred, tried, before, details)

    def judge(self, pod: PodView) -> Judgement | None:
        """Return the current judgement of a pod's shape; None where no node is to be looked at."""
        if not self.fleet.names:
            return None
        gate, filters = self._gate(pod)
        if gate.code is not Code.SUCCESS:
            return None
        judgement = self._judgement(pod, filters)
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

    def _search(
        self,
        pod: PodView,
        gate: Gate,
        judgement: Judgement,
        barred: dict[int, Refusal],
        tried: str,
        before: Sequence[Refused],
        details: bool,
    ) -> Decision:
        fleet = self.fleet
        names = fleet.names
        feasible = judgement.feasible
        if barred:
            feasible = feasible[~np.isin(feasible, list(barred))]
        only: Ints | None = None
        places = len(names)
        if gate.names is not None:
            rows = (fleet.row_of[name] for name in gate.names if name in fleet.row_of)
            only = np.array(sorted(rows), np.int64)
            places = len(only)
            feasible = np.flatnonzero(np.isin(only, feasible))
        wanted = feasible_wanted(places, self.profile.percentage)
        if not self.profile.scores_anything:
            wanted = min(wanted, 1)
        start = self._rotation.start % places if places else 0
        found, passed = walk(feasible, places, start, wanted)
        looked_at: Ints | None = None
        extra = 0
        if details or not len(found) or tried:
            looked_at = (np.arange(start, start + passed) % places) if places else found
            looked_at = looked_at if only is None else only[looked_at]
            extra = int(bool(tried) and fleet.row_of[tried] not in looked_at)
        if only is not None:
            found = only[found]
        self._rotation.start = (self._rotation.start + passed + extra) % len(names)
        refused: tuple[Refused, ...] = ()
        if looked_at is not None and (details or not len(found)):
            refused = self._refused(judgement, looked_at, barred)
            if extra:
                refused = (*before, *refused)
        base = Decision(
            pod.key,
            "",
            len(names),
            feasible=len(found),
            passed=passed,
            gate=gate,
            nominated_tried=tried,
            refused=refused,
            found=tuple(names[row] for row in found.tolist()) if details else (),
        )
        if not len(found):
            return base
        if len(found) == 1:
            return _chosen(base, names[int(found[0])], None)
        totals = judgement.totals.take(found)
        view = None
        parts: list[tuple[str, Ints]] = []
        for score, weight in self.profile.set_scores:
            if not score.applies(pod, fleet.view()):
                continue
            same = judgement.same(score)
            if same is None:
                view = fleet.view(found) if view is None else view
                part = score.compare(pod, view) * weight
                totals += part
            elif details:
                part = np.full(len(found), same * weight, np.int64)
                totals += part
            else:
                continue  # the same for all decides nothing
            parts.append((score.name, part))
        node = names[int(found[winner(totals)])]
        scores = None
        if details:
            parts += judgement.row_scores(found)
            scores = Scores(
                base.found,
                {name: tuple(part.tolist()) for name, part in parts},
                tuple(totals.tolist()),
            )
        return _chosen(base, node, scores)

    def _gate(self, pod: PodView) -> _Gated:
        view = self.fleet.view()
        active: list[Filter] = []
        names: frozenset[str] | None = None
        restricting: list[str] = []
        postponed = Gate()
        for one in self.profile.filters:
            answer = one.admit(pod, view)
            if answer.code is Code.SKIP:
                continue
            if answer.code is Code.UNRESOLVABLE:
                return _Gated(Gate(answer.code, one.name, answer.reasons), ())
            if answer.code is not Code.SUCCESS:
                postponed = Gate(answer.code, one.name, answer.reasons)
                continue
            active.append(one)
            if answer.names is not None:
                restricting.append(one.name)
                names = answer.names if names is None else names & answer.names
                if not names:
                    return _Gated(_nowhere(tuple(sorted(restricting))), ())
        if postponed.code is not Code.SUCCESS:
            return _Gated(postponed, ())
        if names is None:
            return _Gated(_OPEN, tuple(active))
        gate = Gate(names=tuple(sorted(names)), restricting=tuple(sorted(restricting)))
        return _Gated(gate, tuple(active))

    def _judgement(self, pod: PodView, filters: tuple[Filter, ...]) -> Judgement:
        key = (pod.shape, pod.owner, pod.node, tuple(map(id, filters)))
        found = self._judgements.get(key)
        if found is None:
            found = Judgement(self.fleet, filters, self.profile.row_scores, pod)
            self._judgements[key] = found
            if len(self._judgements) * max(len(self.fleet.names), 1) > _ROWS_KEPT:
                self._judgements.popitem(last=False)
        else:
            self._judgements.move_to_end(key)
        return found

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
    ) -> tuple[Refused, ...]:
        names = self.fleet.names
        special = [row for row in rows.tolist() if row in barred] if barred else []
        if special:
            rows = rows[~np.isin(rows, special)]
        groups: dict[Refusal, list[str]] = {}
        for refusal, refused in judgement.refusals(rows):
            groups.setdefault(refusal, []).extend(names[row] for row in refused.tolist())
        for row in special:
            groups.setdefault(barred[row], []).append(names[row])
        return tuple(Refused(refusal, tuple(nodes)) for refusal, nodes in groups.items())


_OPEN: Final = Gate()


def _nowhere(restricting: tuple[str, ...]) -> Gate:
    if len(restricting) == 1:
        reason = f"node(s) didn't satisfy plugin {restricting[0]}"
    else:
        reason = f"node(s) didn't satisfy plugin(s) [{' '.join(restricting)}] simultaneously"
    return Gate(Code.UNRESOLVABLE, reasons=(reason,), restricting=restricting)


def _chosen(base: Decision, node: str, scores: Scores | None) -> Decision:
    return Decision(
        base.pod,
        node,
        base.nodes,
        base.feasible,
        base.passed,
        base.gate,
        base.nominated_tried,
        base.refused,
        base.found,
        scores,
    )

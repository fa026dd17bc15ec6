"""Preemption: on which node fewer and less important pods would make room.

Every candidate node is tried in a trial of the fleet, so nothing changes before the decision is
carried out; the search pauses between pods it tries, and the fleet must stay as it is meanwhile.
Rules and words: kube-scheduler v1.36, plugin DefaultPreemption; where the real one picks by chance
(start of the search, last ties), the first node and the smallest name are taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from windtunnel.fleet import PodView
from windtunnel.placement import Code, Judgement, Refusal
from windtunnel.placement.arguments import DefaultPreemptionArgs
from windtunnel.placement.search import Cycle, Decision, RefusedNodes, histogram
from windtunnel.scheduler.budgets import Budget, violating
from windtunnel.scheduler.profile import Profile

_Result = TypeVar("_Result")
Pieces = Generator[None, None, _Result]
"""Something that is done in pieces and ends with a result."""

_NO_VICTIMS: Final = Refusal(
    Code.UNRESOLVABLE, "", ("No preemption victims found for incoming pod",)
)
_AT_ONCE: Final = 16
"""Pods that are taken away between two pauses."""
_NO_HELP: Final = "Preemption is not helpful for scheduling"
_BY_SCHEDULER: Final = "PreemptionByScheduler"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node on which evicting ``victims`` makes room."""

    node: str
    victims: tuple[PodView, ...]
    violations: int
    """Victims whose eviction breaks a disruption budget."""


@dataclass(frozen=True, slots=True)
class Preemption:
    """What came of trying to make room after a failed search."""

    code: Code
    message: str
    nominated: str | None
    """The node to wait for; "" takes a nomination back, None leaves it as it is."""
    candidates: tuple[Candidate, ...] = ()
    ties: tuple[str, ...] = ()
    """Nodes equally good to the last criterion."""
    refused: tuple[RefusedNodes, ...] = ()
    """Why nodes that were tried are no candidates."""

    @property
    def chosen(self) -> Candidate | None:
        """The candidate to carry out."""
        return next((one for one in self.candidates if one.node == self.nominated), None)


def after_failure(
    cycle: Cycle, profile: Profile, pod: PodView, decision: Decision, budgets: Sequence[Budget]
) -> Pieces[Preemption | None]:
    """Ask everything that may help after a failed search, in the profile's order."""
    words = []
    result = Preemption(Code.UNSCHEDULABLE, "", None)
    plugins = profile.post_filters
    if not plugins:
        return None
    if "DynamicResources" in plugins and _stopped_before_claims(cycle, decision):
        # The plugin's own state was never written, and it stumbles over that.
        return Preemption(Code.ERROR, "not found", None)
    for plugin in plugins:
        if plugin == "DynamicResources":
            words.append(_nothing_freed(pod))
        elif plugin == "DefaultPreemption":
            result = yield from preempt(cycle, profile.preemption, pod, decision, budgets)
            if result.code is Code.SUCCESS:
                return result
            words.append(f"preemption: {result.message}")
    return Preemption(result.code, ", ".join(words), result.nominated, refused=result.refused)


def _stopped_before_claims(cycle: Cycle, decision: Decision) -> bool:
    if decision.gate.code is not Code.UNRESOLVABLE:
        return False
    order = [one.name for one in cycle.rules.filters]
    stopped = decision.gate.plugin or decision.gate.restricting[-1]
    if "DynamicResources" not in order or stopped not in order:
        return True
    return order.index(stopped) < order.index("DynamicResources")


def _nothing_freed(pod: PodView) -> str:
    """Return what the plugin of device claims says: pods without claims leave nothing to free."""
    return "still not schedulable" if pod.has_claims else "no new claims to deallocate"


def preempt(
    cycle: Cycle,
    settings: DefaultPreemptionArgs,
    pod: PodView,
    decision: Decision,
    budgets: Sequence[Budget],
) -> Pieces[Preemption]:
    """Look for the node where making room hurts least."""
    ineligible = _ineligible(cycle, pod, decision)
    if ineligible:
        return Preemption(Code.UNSCHEDULABLE, ineligible, None)
    yield
    hopeful = [
        node
        for one in decision.refused
        if one.refusal.code is Code.UNSCHEDULABLE
        for node in one.nodes
    ]
    hopeful.sort(key=cycle.fleet.row_of.__getitem__)
    enough = min(
        max(
            len(hopeful) * settings.min_candidate_nodes_percentage // 100,
            settings.min_candidate_nodes_absolute,
        ),
        len(hopeful),
    )
    candidates: list[Candidate] = []
    refused: dict[Refusal, list[str]] = {}
    judgement = cycle.judge(pod) if cycle.fleet.any_below(pod.priority) else None
    if judgement is None:
        hopeless = (RefusedNodes(_NO_VICTIMS, tuple(hopeful)),) if hopeful else ()
        why = _in_vain(decision.nodes, hopeless)
        return Preemption(Code.UNSCHEDULABLE, why, "", refused=hopeless)
    for node in hopeful:
        yield
        found = yield from try_node(cycle, pod, judgement, node, budgets)
        if isinstance(found, Refusal):
            refused.setdefault(found, []).append(node)
            continue
        candidates.append(found)
        if len(candidates) >= enough and any(not one.violations for one in candidates):
            break
    yield
    told = tuple(RefusedNodes(refusal, tuple(nodes)) for refusal, nodes in refused.items())
    if not candidates:
        return Preemption(Code.UNSCHEDULABLE, _in_vain(decision.nodes, told), "", refused=told)
    ties = best(candidates)
    return Preemption(Code.SUCCESS, "", min(ties), tuple(candidates), ties, told)


def try_node(
    cycle: Cycle, pod: PodView, judgement: Judgement, node: str, budgets: Sequence[Budget]
) -> Pieces[Candidate | Refusal]:
    """Take all less important pods away, then give back whoever may stay."""
    fleet = cycle.fleet
    row = fleet.row_of[node]
    lower = [one for one in fleet.pods_on(node) if one.priority < pod.priority]
    if not lower:
        return _NO_VICTIMS
    with fleet.what_if():
        for number, one in enumerate(lower, start=1):
            fleet.remove(one.key)
            if number % _AT_ONCE == 0:
                yield
        refusal = cycle.refusal(pod, judgement, row)
        if refusal is not None:
            return refusal
        lower.sort(key=importance)
        breaks = dict(zip((one.key for one in lower), violating(lower, budgets), strict=True))
        ordered = sorted(lower, key=lambda one: not breaks[one.key])
        victims: list[PodView] = []
        for one in ordered:
            yield
            fleet.place(one, node)
            if not cycle.admits(pod, judgement, row):
                fleet.remove(one.key)
                victims.append(one)
    if not victims:
        reason = f'expected at least one victim pod on node "{node}"'
        return Refusal(Code.ERROR, "", (reason,))
    victims.sort(key=importance)
    return Candidate(node, tuple(victims), sum(breaks[one.key] for one in victims))


def importance(pod: PodView) -> tuple[int, float]:
    """Sort key: the more important pod first; a pod that has not started is the youngest."""
    return -pod.priority, pod.start if pod.start is not None else float("inf")


def best(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """Return the nodes that are left when every criterion has spoken, by name."""
    left = sorted(candidates, key=lambda one: one.node)
    for criterion in _CRITERIA:
        least = min(map(criterion, left))
        left = [one for one in left if criterion(one) == least]
    return tuple(one.node for one in left)


def _highest_start(candidate: Candidate) -> float:
    top = max(one.priority for one in candidate.victims)
    starts = [one.start for one in candidate.victims if one.priority == top]
    return -min(start if start is not None else float("inf") for start in starts)


_CRITERIA: Final[tuple[Callable[[Candidate], float], ...]] = (
    lambda one: one.violations,
    lambda one: one.victims[0].priority,
    lambda one: sum(victim.priority + 2**31 for victim in one.victims),
    lambda one: len(one.victims),
    _highest_start,
)


def _ineligible(cycle: Cycle, pod: PodView, decision: Decision) -> str:
    if not pod.may_preempt:
        return "not eligible due to preemptionPolicy=Never."
    if not pod.nominated:
        return ""
    for one in decision.refused:
        if pod.nominated in one.nodes and one.refusal.code is Code.UNRESOLVABLE:
            return ""
    if decision.gate.names is not None and pod.nominated not in decision.gate.names:
        return ""
    for other in cycle.fleet.pods_on(pod.nominated):
        condition = other.condition("DisruptionTarget")
        if (
            other.terminating
            and other.priority < pod.priority
            and condition is not None
            and condition.status == "True"
            and condition.reason == _BY_SCHEDULER
        ):
            return "not eligible due to a terminating pod on the nominated node."
    return ""


def _in_vain(nodes: int, refused: Sequence[RefusedNodes]) -> str:
    counts: Counter[str] = Counter()
    for one in refused:
        for reason in one.refusal.reasons:
            counts[reason] += len(one.nodes)
    hopeless = nodes - sum(len(one.nodes) for one in refused)
    if hopeless:
        counts[_NO_HELP] = hopeless
    return f"0/{nodes} nodes are available:{histogram(counts)}"

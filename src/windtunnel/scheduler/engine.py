"""The scheduler without an API: changes go in, attempts come out.

Fleet, queue, cycles and nominations in one thread. A turn takes one pod through one search and
assumes its placement; whoever carries the attempt out (a client, a replay, a simulation) writes
what it says and feeds back the changes that follow. News that comes in a turn waits for its end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from functools import partial
from typing import Final

from msgspec.structs import replace

from windtunnel.fleet import Fleet, PodView, read_changed_node
from windtunnel.kernel import Clock
from windtunnel.machinery.change import Change
from windtunnel.machinery.tree import Key
from windtunnel.placement import Relief, What, node_reliefs
from windtunnel.placement.search import Cycle, Decision, Nominations, Rotation
from windtunnel.scheduler.budgets import Budget, read_budget
from windtunnel.scheduler.configuration import Configuration
from windtunnel.scheduler.preemption import after_failure
from windtunnel.scheduler.queue import SchedulingQueue
from windtunnel.scheduler.turn import Attempt, Turn
from windtunnel.scheduler.waiting import GateRefusal, Waiting

WATCHED: Final = (
    "namespaces",
    "services",
    "replicationcontrollers",
    "replicasets.apps",
    "statefulsets.apps",
    "poddisruptionbudgets.policy",
    "nodes",
    "pods",
)
"""What the engine must see, in an order in which things are known before they are needed."""


class Engine:
    """Decides where pods go."""

    def __init__(self, configuration: Configuration, clock: Clock) -> None:
        self.fleet = Fleet()
        self.nominations = Nominations()
        self.budgets: dict[Key, Budget] = {}
        rotation = Rotation()
        self._profiles = {profile.name: profile for profile in configuration.profiles}
        self.cycles = {
            profile.name: Cycle(self.fleet, profile.rules, self.nominations, rotation)
            for profile in configuration.profiles
        }
        self.queue = SchedulingQueue(
            clock,
            self._gating,
            self._worth,
            configuration.initial_backoff_seconds,
            configuration.max_backoff_seconds,
        )
        self._assumed: set[Key] = set()
        self._in_turn = False
        self._late: deque[Callable[[], None]] = deque()

    def between_turns(self, step: Callable[[], None]) -> None:
        """Play ``step`` when no turn is under way: at once, or when this one is over."""
        if self._in_turn or self._late:
            self._late.append(step)
        else:
            step()

    def observe(self, resource: str, change: Change) -> None:
        """Follow one change of a watched resource."""
        if self._in_turn or self._late:
            self._late.append(partial(self._follow, resource, change.kept()))
        else:
            self._follow(resource, change)

    def _follow(self, resource: str, change: Change) -> None:
        if change.type == "SYNCED":
            return
        if resource == "pods":
            self._observe_pod(change)
        elif resource == "nodes":
            self._observe_node(change)
        elif resource == "poddisruptionbudgets.policy":
            if change.type == "DELETED":
                self.budgets.pop(change.key, None)
            else:
                self.budgets[change.key] = read_budget(change.tree())
        else:
            self.fleet.apply(resource, change)

    def attempt(self, *, details: bool = False) -> Attempt | None:
        """Take the next pod through one search, at once; None where nobody is in line."""
        turn = self.turn(details=details)
        turn.go_on()
        return turn.attempt

    def turn(self, *, details: bool = False) -> Turn:
        """Begin the turn of the next pod; it must be over before another begins."""
        self._in_turn = True
        return Turn(self._course(details), self._turn_over)

    def _turn_over(self) -> None:
        self._in_turn = False
        late = self._late
        while late:
            late[0]()
            late.popleft()

    def _course(self, details: bool) -> Generator[None, None, Attempt | None]:
        waiting = self.queue.pop()
        if waiting is None:
            return None
        try:
            return (yield from self._attempt(waiting, details))
        except Exception as bug:
            # Whoever ends because of it can name the pod.
            bug.add_note(f"pods {waiting.pod.key}")
            raise

    def _attempt(self, waiting: Waiting, details: bool) -> Generator[None, None, Attempt]:
        pod = waiting.pod
        if pod.terminating:
            self.queue.done(waiting)
            return Attempt(pod, "skipped")
        cycle = self.cycles[pod.scheduler]
        nominated = self.nominations.node_of(pod.key)
        if nominated != pod.nominated:
            pod = replace(pod, nominated=nominated)
        decision = cycle.decide(pod, details=details)
        if decision.node:
            self._assume(waiting, decision.node)
            return Attempt(pod, "placed", decision)
        return (yield from self._failed(cycle, waiting, pod, decision))

    def forget(self, pod: PodView) -> bool:
        """Take an assumed placement back: it could not be written. The pod backs off.

        Returns:
            Whether there was anything to take back: the pod may be gone, or placed by others.
        """
        if pod.key not in self._assumed:
            return False
        self._assumed.discard(pod.key)
        self.fleet.remove(pod.key)
        self.queue.tell(Relief(What.POD_GONE, pod_before=pod))
        self.queue.put_back(Waiting(pod, 0.0), frozenset())
        return True

    def knows(self, pod: PodView) -> bool:
        """Say whether one of the profiles is responsible for the pod."""
        return pod.scheduler in self.cycles

    def _assume(self, waiting: Waiting, node: str) -> None:
        pod = waiting.pod
        self.queue.done(waiting)
        self.nominations.remove(pod.key)
        self.fleet.place(pod, node)
        self._assumed.add(pod.key)

    def _failed(
        self, cycle: Cycle, waiting: Waiting, pod: PodView, decision: Decision
    ) -> Generator[None, None, Attempt]:
        preemption = None
        if decision.nodes:
            profile = self._profiles[pod.scheduler]
            budgets = tuple(self.budgets.values())
            preemption = yield from after_failure(cycle, profile, pod, decision, budgets)
        message = decision.message(preemption.message if preemption else "")
        nominated = preemption.nominated if preemption else ("" if not decision.nodes else None)
        demoted: tuple[PodView, ...] = ()
        chosen = preemption.chosen if preemption else None
        if chosen is not None and any(not one.terminating for one in chosen.victims):
            demoted = tuple(
                one for one in self.nominations.on(chosen.node) if one.priority < pod.priority
            )
        renominated = nominated is not None and nominated != pod.nominated
        if nominated is not None and renominated:
            pod = replace(pod, nominated=nominated)
        waiting.pod = pod
        self.queue.put_back(waiting, decision.rejectors)
        self.nominations.put(pod, pod.nominated)
        for one in demoted:
            self._demote(one)
        return Attempt(pod, "unschedulable", decision, preemption, message, renominated, demoted)

    def _demote(self, pod: PodView) -> None:
        self.nominations.remove(pod.key)
        self._tell_unclaimed(pod)

    def _tell_unclaimed(self, pod: PodView) -> None:
        """A nomination is gone, which is as if a pod of that size had left."""
        self.queue.tell(
            Relief(What.POD_GONE, pod_before=pod), lambda other: other.priority <= pod.priority
        )

    def _gating(self, pod: PodView) -> GateRefusal | None:
        if pod.gates and "SchedulingGates" in self._profiles[pod.scheduler].gates:
            reason = f"waiting for scheduling gates: [{' '.join(pod.gates)}]"
            return GateRefusal("SchedulingGates", reason)
        return None

    def _worth(self, waiting: Waiting, relief: Relief) -> bool:
        if waiting.gate is not None:
            return relief.what is What.OWN_GATES and relief.pod is waiting.pod
        if not waiting.rejectors:
            return True
        view = self.fleet.view()
        rules = self.cycles[waiting.pod.scheduler].rules
        return any(
            one.relieved(waiting.pod, relief, view)
            for one in rules.filters
            if one.name in waiting.rejectors
        )

    def _observe_node(self, change: Change) -> None:
        name = change.key.name
        before = self.fleet.facts.get(name)
        if change.type == "DELETED":
            self.fleet.remove_node(name)
            if before is not None:
                self.queue.tell(Relief(What.NODE_REMOVED, node_before=before))
            return
        after = read_changed_node(change)
        self.fleet.put_node(after)
        if before is None:
            self.queue.tell(Relief(What.NODE_ADDED, node=after))
            return
        for relief in node_reliefs(before, after):
            self.queue.tell(relief)

    def _observe_pod(self, change: Change) -> None:
        pod = self.fleet.reader.read_changed(change)
        if change.type == "DELETED" or pod.finished:
            self._gone(pod)
        elif pod.node:
            self._on_node(pod)
        elif self.knows(pod) and pod.key not in self._assumed:
            self._pending(pod)

    def _gone(self, pod: PodView) -> None:
        self._assumed.discard(pod.key)
        before = self.fleet.remove(pod.key)
        if before is not None:
            self.queue.tell(Relief(What.POD_GONE, pod_before=before))
            return
        claimed = self.nominations.node_of(pod.key)
        self.queue.remove(pod.key)
        self.nominations.remove(pod.key)
        if claimed:
            self._tell_unclaimed(pod)

    def _on_node(self, pod: PodView) -> None:
        before = self.fleet.placed(pod.key)
        assumed = pod.key in self._assumed
        self._assumed.discard(pod.key)
        self.queue.remove(pod.key)
        self.nominations.remove(pod.key)
        self.fleet.place(pod, pod.node)
        if before is None or assumed:
            self.queue.tell(Relief(What.POD_PLACED, pod=pod))
            return
        for relief in _changes(before, pod):
            self.queue.tell(relief)

    def _pending(self, pod: PodView) -> None:
        before = self.queue.get(pod.key)
        if before is None:
            if pod.nominated:
                self.nominations.put(pod, pod.nominated)
            self.queue.add(pod)
            return
        claimed = self.nominations.node_of(pod.key)
        self.nominations.put(pod, pod.nominated)
        self.queue.update(pod, _changes(before, pod))
        if claimed and claimed != pod.nominated:
            self._tell_unclaimed(pod)


def _changes(before: PodView, after: PodView) -> list[Relief]:
    """Return what a pod's change may be good for, its own waiting included."""
    found = []
    old, new = before.shape, after.shape
    if old is not new:
        if old.labels != new.labels:
            found.append(What.POD_LABELS)
        if any(new.requests.get(name, 0) < value for name, value in old.requests.items()):
            found.append(What.POD_SHRUNK)
        if not after.node and old.tolerations != new.tolerations:
            found.append(What.OWN_TOLERATIONS)
    if before.gates and not after.gates:
        found.append(What.OWN_GATES)
    return [Relief(what, pod_before=before, pod=after) for what in found]

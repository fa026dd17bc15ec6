"""What one visit to a DaemonSet does, worked out before anything is written.

First every node is given what it lacks and rid of what it should not have; only when nothing of
that is under way are old pods exchanged. Source: daemon-controller of Kubernetes v1.36. Nodes come
in the order of their names where the real one takes them by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from windtunnel.controllers.daemonset.fit import NEITHER, Fit
from windtunnel.controllers.daemonset.views import DaemonSetStatus, DaemonSetView
from windtunnel.controllers.pods import available
from windtunnel.controllers.portions import portion
from windtunnel.controllers.revisions import REVISION_HASH
from windtunnel.controllers.views import PodView

GENERATION = "pod-template-generation"
"""The label by which a pod says of which template it is; older than revisions."""

Fits = Mapping[str, Fit]
"""What each node there is may have, by name."""

Pods = Mapping[str, Sequence[PodView]]
"""The DaemonSet's pods by the node they are on or for."""


@dataclass(slots=True)
class Plan:
    """What one visit writes."""

    create: list[str] = field(default_factory=list)
    """Nodes that get a pod."""
    delete: list[PodView] = field(default_factory=list)
    ended: list[tuple[str, PodView]] = field(default_factory=list)
    """(node, pod) of pods that failed or succeeded and are deleted for it."""


@dataclass(frozen=True, slots=True)
class Daemon:
    """A DaemonSet at one moment."""

    view: DaemonSetView
    hash: str
    """Of the revision of its template."""
    now: float

    def is_updated(self, pod: PodView) -> bool:
        """Whether a pod is of the present template."""
        labels = pod.metadata.labels
        generation = self.view.template_generation
        return labels.get(REVISION_HASH) == self.hash or (
            generation != "" and labels.get(GENERATION) == generation
        )

    def is_available(self, pod: PodView) -> bool:
        """Whether a pod has been ready for long enough."""
        return available(pod, self.view.spec.min_ready_seconds, self.now)

    def limits(self, wanted: int) -> tuple[int, int]:
        """Return how many nodes may hold two pods, and how many may go without."""
        rolling = self.view.spec.update_strategy.rolling_update
        surge = portion(rolling.max_surge, wanted, up=True)
        missing = portion(rolling.max_unavailable, wanted, up=True)
        return surge, 1 if surge == missing == 0 else missing

    @property
    def surges(self) -> bool:
        """Whether a new pod starts beside the old one."""
        strategy = self.view.spec.update_strategy
        return (
            strategy.type == "RollingUpdate"
            and portion(strategy.rolling_update.max_surge, 100, up=True) > 0
        )


def populate(daemon: Daemon, fits: Fits, pods: Pods, may_kill: Callable[[str], bool]) -> Plan:
    """Say which nodes get a pod, and which pods should not be where they are.

    Args:
        daemon: The DaemonSet.
        fits: All nodes.
        pods: Its pods.
        may_kill: Whether a failed pod of this node may be replaced yet.
    """
    plan = Plan()
    for node, fit in fits.items():
        here = pods.get(node, ())
        if not here:
            if fit.run:
                plan.create.append(node)
        elif fit.stay:
            _tidy(daemon, node, here, plan, may_kill)
        else:
            plan.delete += [pod for pod in here if not pod.metadata.deleting]
    for node, stray in pods.items():
        if node not in fits:
            plan.delete += [
                pod for pod in stray if not pod.spec.node_name and not pod.metadata.deleting
            ]
    return plan


def _tidy(
    daemon: Daemon,
    node: str,
    here: Sequence[PodView],
    plan: Plan,
    may_kill: Callable[[str], bool],
) -> None:
    """Rid a node of pods that have ended, and of all but one that run."""
    running: list[PodView] = []
    for pod in here:
        if pod.metadata.deleting:
            continue
        if not pod.finished:
            running.append(pod)
        elif pod.status.phase == "Succeeded" or may_kill(node):
            plan.ended.append((node, pod))
            plan.delete.append(pod)
    running.sort(key=_seniority)
    if len(running) < 2:
        return
    if not daemon.surges:
        plan.delete += running[1:]
        return
    fresh = [pod for pod in running if daemon.is_updated(pod)]
    old = [pod for pod in running if not daemon.is_updated(pod)]
    plan.delete += fresh[1:] + old[1:]
    if fresh and old and (not old[0].ready or daemon.is_available(fresh[0])):
        plan.delete.append(old[0])


def roll(daemon: Daemon, fits: Fits, pods: Pods) -> Plan:
    """Say which pods are exchanged now, where pods are exchanged by themselves."""
    wanted = [node for node, fit in fits.items() if fit.run]
    surge, missing = daemon.limits(len(wanted))
    nodes = dict.fromkeys((*wanted, *pods))
    if surge == 0:
        return _replace(daemon, nodes, pods, missing)
    return _surge(daemon, nodes, fits, pods, surge)


def _replace(daemon: Daemon, nodes: Iterable[str], pods: Pods, limit: int) -> Plan:
    """Delete old pods, as long as not too many nodes go without an available one."""
    unavailable = 0
    broken: list[PodView] = []
    candidates: list[PodView] = []
    for node in nodes:
        pair = _pair(daemon, pods.get(node, ()))
        if pair is None or (pair.old is None) == (pair.fresh is None):
            unavailable += 1
        elif pair.fresh is not None:
            unavailable += not daemon.is_available(pair.fresh)
        elif pair.old is not None:
            (candidates if daemon.is_available(pair.old) else broken).append(pair.old)
    left = max(limit - unavailable - len(broken), 0)
    return Plan(delete=broken + candidates[:left])


def _surge(daemon: Daemon, nodes: Iterable[str], fits: Fits, pods: Pods, limit: int) -> Plan:
    """Make new pods beside old ones on so many nodes; an old one ends when the new one is up."""
    plan = Plan()
    surging = 0
    candidates: list[str] = []
    for node in nodes:
        pair = _pair(daemon, pods.get(node, ()))
        if pair is None:
            surging += 1
        elif pair.old is None:
            continue
        elif pair.fresh is None:
            if not fits.get(node, NEITHER).run:
                continue
            (candidates if daemon.is_available(pair.old) else plan.create).append(node)
        elif daemon.is_available(pair.fresh):
            plan.delete.append(pair.old)
        else:
            surging += 1
    plan.create += candidates[: max(limit - surging, 0)]
    return plan


@dataclass(slots=True)
class _Pair:
    fresh: PodView | None = None
    old: PodView | None = None


def _pair(daemon: Daemon, here: Iterable[PodView]) -> _Pair | None:
    """Return the living pods of a node; None where there are several of one sort."""
    pair = _Pair()
    for pod in here:
        if pod.metadata.deleting:
            continue
        if daemon.is_updated(pod):
            if pair.fresh is not None:
                return None
            pair.fresh = pod
        else:
            if pair.old is not None:
                return None
            pair.old = pod
    return pair


def count(daemon: Daemon, fits: Fits, pods: Pods, collisions: int | None) -> DaemonSetStatus:
    """Return the status that these pods amount to; a node counts by its oldest pod."""
    wanted = current = misplaced = ready = updated = there = 0
    for node, fit in fits.items():
        here = pods.get(node)
        if not fit.run:
            misplaced += bool(here)
            continue
        wanted += 1
        if not here:
            continue
        current += 1
        pod = min(here, key=_seniority)
        ready += pod.ready
        there += daemon.is_available(pod)
        updated += daemon.is_updated(pod)
    return DaemonSetStatus(
        current_number_scheduled=current,
        number_misscheduled=misplaced,
        desired_number_scheduled=wanted,
        number_ready=ready,
        observed_generation=daemon.view.metadata.generation,
        updated_number_scheduled=updated,
        number_available=there,
        number_unavailable=wanted - there,
        collision_count=collisions,
    )


def _seniority(pod: PodView) -> tuple[bool, str, str]:
    """Sort key: those that have a node first, then the oldest."""
    return (not pod.spec.node_name, pod.metadata.creation_timestamp, pod.metadata.name)

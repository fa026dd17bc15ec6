"""What one visit to a StatefulSet does to its pods, worked out before anything is written.

Pods are looked at in the order of their numbers; in an ordered set the first one that is not as it
should be ends the visit. Scaling goes before updating. Source: statefulset-controller of Kubernetes
v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from windtunnel.controllers.pods import AT_ONCE, available
from windtunnel.controllers.portions import portion
from windtunnel.controllers.revisions import REVISION_HASH
from windtunnel.controllers.statefulset.identity import ordinal_of
from windtunnel.controllers.statefulset.views import StatefulSetStatus, StatefulSetView
from windtunnel.controllers.views import PodView


@dataclass(frozen=True, slots=True)
class Vacancy:
    """One number whose pod is to be made."""

    ordinal: int
    updated: bool
    """Whether it is of the newest revision."""


@dataclass(slots=True)
class Plan:
    """What one visit does to pods, in this order."""

    create: list[Vacancy] = field(default_factory=list)
    delete: list[PodView] = field(default_factory=list)
    repair: list[PodView] = field(default_factory=list)
    """Pods that are there and should be, whose labels and claims are looked after."""
    surplus: list[PodView] = field(default_factory=list)
    """Pods above the wanted number, whose claims may go with them."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A StatefulSet with its pods at one moment."""

    view: StatefulSetView
    pods: Mapping[int, PodView]
    """By number."""
    present: str
    """The name of the revision that was last complete."""
    newest: str
    now: float

    def is_available(self, pod: PodView) -> bool:
        """Whether a pod runs and has been ready for long enough."""
        return _runs(pod) and available(pod, self.view.spec.min_ready_seconds, self.now)

    def wanted(self) -> list[tuple[int, PodView]]:
        """Return the pods that are there and should be, with their numbers, the lowest first."""
        ordinals = self.view.ordinals
        return [(number, pod) for number, pod in sorted(self.pods.items()) if number in ordinals]

    def condemned(self) -> list[PodView]:
        """Return the pods beyond the wanted number, the highest first."""
        ordinals = self.view.ordinals
        return [pod for number, pod in sorted(self.pods.items())[::-1] if number not in ordinals]


def by_ordinal(view: StatefulSetView, pods: Iterable[PodView]) -> dict[int, PodView]:
    """Return pods by their number; what has none is nobody's."""
    return {
        number: pod
        for pod in pods
        if (number := ordinal_of(view, pod.metadata.name)) is not None
    }  # fmt: skip


def decide(standing: Standing) -> Plan:
    """Say what one visit does to the pods."""
    plan = Plan(surplus=standing.condemned())
    if standing.view.metadata.deleting:
        return Plan()
    if _fill(standing, plan) or _shrink(standing, plan):
        return plan
    _update(standing, plan)
    return plan


def _fill(standing: Standing, plan: Plan) -> bool:
    """Make what is missing and replace what has ended; returns whether the visit ends there."""
    ordered = standing.view.ordered
    for number in standing.view.ordinals:
        pod = standing.pods.get(number)
        if len(plan.create) == AT_ONCE:
            return True  # their coming brings about the next visit
        if pod is None:
            plan.create.append(Vacancy(number, updated=not _stays_old(standing, number)))
        elif pod.finished:
            if not pod.metadata.deleting:
                plan.delete.append(pod)
        else:
            plan.repair.append(pod)
            if not pod.metadata.deleting and standing.is_available(pod):
                continue
        if ordered:
            return True
    return False


def _shrink(standing: Standing, plan: Plan) -> bool:
    """Delete what is beyond the number; returns whether the visit ends there."""
    condemned = plan.surplus
    if not standing.view.ordered:
        plan.delete += [pod for pod in condemned if not pod.metadata.deleting]
        return False
    if not condemned:
        return False
    first = condemned[0]
    if first.metadata.deleting:
        return True
    if not standing.is_available(first) and first is not _first_unhealthy(standing):
        return True
    plan.delete.append(first)
    return True


def _update(standing: Standing, plan: Plan) -> None:
    """Delete old pods from the highest number down, as many as may be away."""
    strategy = standing.view.spec.update_strategy
    if strategy.type == "OnDelete":
        return
    rolling = strategy.rolling_update
    partition = rolling.partition if rolling is not None else 0
    wanted = standing.wanted()
    there = sum(not pod.metadata.deleting and standing.is_available(pod) for _, pod in wanted)
    left = _max_unavailable(standing.view) - (len(standing.view.ordinals) - there)
    for number, pod in reversed(wanted):
        if left <= 0 or number < partition:
            return
        if pod.metadata.deleting or pod.finished:
            continue
        if revision_of(pod) != standing.newest:
            plan.delete.append(pod)
            left -= 1


def _stays_old(standing: Standing, number: int) -> bool:
    """Whether a pod of this number is to be of the revision that was last complete."""
    strategy = standing.view.spec.update_strategy
    if strategy.type != "RollingUpdate":
        return False
    if strategy.rolling_update is None:
        start = standing.view.spec.ordinals.start
        return number < start + standing.view.status.current_replicas
    return number < strategy.rolling_update.partition


def _max_unavailable(view: StatefulSetView) -> int:
    rolling = view.spec.update_strategy.rolling_update
    given = rolling.max_unavailable if rolling is not None else None
    return 1 if given is None else max(portion(given, view.spec.replicas, up=False), 1)


def _first_unhealthy(standing: Standing) -> PodView | None:
    """Return the pod of the lowest number that is going or not up."""
    for _, pod in sorted(standing.pods.items()):
        if pod.metadata.deleting or not (_runs(pod) and pod.ready):
            return pod
    return None


def count(standing: Standing, collisions: int) -> StatefulSetStatus:
    """Return the status that these pods amount to."""
    view, pods = standing.view, standing.pods.values()
    up = [pod for pod in pods if _runs(pod) and pod.ready]
    staying = [pod for pod in pods if not pod.metadata.deleting]
    status = StatefulSetStatus(
        observed_generation=view.metadata.generation,
        replicas=len(pods),
        ready_replicas=len(up),
        available_replicas=sum(map(standing.is_available, up)),
        current_replicas=sum(revision_of(pod) == standing.present for pod in staying),
        updated_replicas=sum(revision_of(pod) == standing.newest for pod in staying),
        current_revision=standing.present,
        update_revision=standing.newest,
        collision_count=collisions,
        conditions=view.status.conditions,
    )
    whole = (
        status.updated_replicas
        == status.ready_replicas
        == status.replicas
        == view.spec.replicas
    )  # fmt: skip
    if view.spec.update_strategy.type == "RollingUpdate" and whole:
        return msgspec.structs.replace(
            status,
            current_revision=standing.newest,
            current_replicas=status.updated_replicas,
        )
    return status


def revision_of(pod: PodView) -> str:
    """Return the name of the revision that a pod is of."""
    return pod.metadata.labels.get(REVISION_HASH, "")


def names_in_use(pods: Sequence[PodView], standing: Standing) -> set[str]:
    """Return the names of the revisions that must be kept."""
    return {standing.present, standing.newest, *map(revision_of, pods)}


def _runs(pod: PodView) -> bool:
    return pod.status.phase == "Running"

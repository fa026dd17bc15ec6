"""ReplicaSets: as many pods as wanted, no more, no less.

Source: replicaset-controller of Kubernetes v1.36. Status is counted from the pods as they were
found, before this visit makes or deletes any; those come back as changes and bring the next visit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from windtunnel.client import Client
from windtunnel.client.events import Recorder, Subject
from windtunnel.controllers.controller import unless_zero, write_status
from windtunnel.controllers.expectations import Expectations
from windtunnel.controllers.ownership import PodOwnership
from windtunnel.controllers.pods import (
    AT_ONCE,
    PodControl,
    available,
    namespace_is_going,
    next_available,
    pick_victims,
    pod_from,
    slow_start,
)
from windtunnel.controllers.sources import Sources
from windtunnel.controllers.views import (
    Condition,
    PodView,
    ReplicaSetStatus,
    ReplicaSetView,
    find_condition,
    template_of,
)
from windtunnel.kernel import DONE, Clock, Result, WorkQueue
from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Key, Tree

RESOURCE: Final = "replicasets.apps"
FAILURE: Final = "ReplicaFailure"


@dataclass(frozen=True, slots=True)
class Plan:
    """What one visit does to the pods: at most one of the two."""

    create: int = 0
    delete: tuple[PodView, ...] = ()


def decide(wanted: int, active: Sequence[PodView], crowd: Mapping[str, int], now: float) -> Plan:
    """Say how many pods to make, or which to delete. ``crowd``: the family's pods per node."""
    missing = wanted - len(active)
    if missing > 0:
        return Plan(create=min(missing, AT_ONCE))
    if missing < 0:
        return Plan(delete=tuple(pick_victims(active, min(-missing, AT_ONCE), crowd, now)))
    return Plan()


def count(
    replica_set: ReplicaSetView,
    active: Sequence[PodView],
    terminating: int,
    failure: Exception | None,
    now: float,
) -> ReplicaSetStatus:
    """Return the status these pods amount to, given how making or deleting pods went."""
    template = msgspec.json.decode(replica_set.spec.template, type=_Template)
    wanted_labels = template.metadata.labels.items()
    ready = [pod for pod in active if pod.ready]
    return ReplicaSetStatus(
        replicas=len(active),
        fully_labeled_replicas=sum(wanted_labels <= pod.metadata.labels.items() for pod in active),
        ready_replicas=len(ready),
        available_replicas=sum(
            available(pod, replica_set.spec.min_ready_seconds, now) for pod in ready
        ),
        terminating_replicas=terminating,
        observed_generation=replica_set.metadata.generation,
        conditions=_conditions(replica_set, len(active), failure, now),
    )


class ReplicaSets:
    """Reconciles ReplicaSets."""

    name = "replicaset-controller"

    def __init__(self, client: Client, clock: Clock, sources: Sources, recorder: Recorder) -> None:
        self._client, self._clock, self._sources = client, clock, sources
        self._expectations = Expectations(clock)
        self._ownership = PodOwnership(
            client, sources.pods, sources.replica_sets, "apps/v1", "ReplicaSet"
        )
        self._control = PodControl(client, recorder, self._expectations)

    def attach(self, queue: WorkQueue[Key]) -> None:
        """Queue a set when it or one of its pods changes."""

        def set_changed(
            key: Key, before: ReplicaSetView | None, after: ReplicaSetView | None
        ) -> None:
            if after is None:
                self._expectations.forget(key)
            queue.add(key)

        self._sources.replica_sets.on_change(set_changed)
        self._sources.pod_owners.follow(self._ownership, self._expectations, queue.add)

    def reconcile(self, key: Key) -> Result:
        """Bring one set in line."""
        replica_set = self._sources.replica_sets.get(key)
        if replica_set is None:
            return DONE
        now = self._clock.now()
        pods = self._ownership.claim(replica_set.metadata, replica_set.spec.selector)
        active = [pod for pod in pods if pod.active]
        terminating = sum(pod.metadata.deleting and not pod.finished for pod in pods)
        plan, refusal = Plan(), None
        if self._expectations.met(key) and not replica_set.metadata.deleting:
            crowd = self._crowd(replica_set)
            plan = decide(replica_set.spec.replicas, active, crowd, now)
            refusal = self._act(key, replica_set, plan)
        failure = None if refusal is None or namespace_is_going(refusal) else refusal
        status = count(replica_set, active, terminating, failure, now)
        if status != replica_set.status:
            write_status(self._client, RESOURCE, key, status_tree(status))
        if failure is not None:
            raise failure
        changed = bool(plan.create or plan.delete)
        if changed and refusal is None and abs(replica_set.spec.replicas - len(active)) > AT_ONCE:
            return Result(again_in=0.0)
        min_ready = replica_set.spec.min_ready_seconds
        return Result(next_available(active, min_ready, now)) if min_ready else DONE

    def _act(self, key: Key, replica_set: ReplicaSetView, plan: Plan) -> Exception | None:
        subject = _subject(replica_set)
        if plan.delete:
            failures = [
                failure
                for pod in plan.delete
                if (failure := self._control.delete(pod, subject, key)) is not None
            ]
            return failures[0] if failures else None
        owner = self._ownership.reference(replica_set.metadata)

        def make(_: int) -> Exception | None:
            pod = pod_from(
                template_of(replica_set.spec.template),
                key.namespace,
                f"{replica_set.metadata.name}-",
                owner,
            )
            return self._control.create(pod, subject, key)

        _, failure = slow_start(plan.create, make)
        return failure

    def _crowd(self, replica_set: ReplicaSetView) -> Counter[str]:
        """Count the family's active pods per node: those of all sets with the same controller."""
        controller = replica_set.metadata.controller
        if controller is None:
            return Counter()
        family = self._sources.replica_sets.by("owner", controller.uid)
        return Counter(
            pod.spec.node_name
            for _, sibling in family
            for _, pod in self._sources.pods.by("owner", sibling.metadata.uid)
            if pod.active
        )


def _subject(replica_set: ReplicaSetView) -> Subject:
    """Return the set as events name it."""
    metadata = replica_set.metadata
    return Subject("ReplicaSet", metadata.name, metadata.namespace, metadata.uid, "apps/v1")


def status_tree(status: ReplicaSetStatus) -> Tree:
    """Return the status as it is written: counters other than replicas are absent when zero."""
    conditions: list[Any] = [condition.to_tree() for condition in status.conditions]
    return {
        "replicas": status.replicas,
        "fullyLabeledReplicas": unless_zero(status.fully_labeled_replicas),
        "readyReplicas": unless_zero(status.ready_replicas),
        "availableReplicas": unless_zero(status.available_replicas),
        "terminatingReplicas": status.terminating_replicas,
        "observedGeneration": unless_zero(status.observed_generation),
        "conditions": conditions or None,
    }


class _TemplateMetadata(msgspec.Struct):
    labels: dict[str, str] = {}


class _Template(msgspec.Struct):
    metadata: _TemplateMetadata = msgspec.field(default_factory=_TemplateMetadata)


def _conditions(
    replica_set: ReplicaSetView, active: int, failure: Exception | None, now: float
) -> tuple[Condition, ...]:
    """Keep the conditions, with ReplicaFailure as long as making or deleting pods fails."""
    conditions = replica_set.status.conditions
    if failure is None:
        return tuple(each for each in conditions if each.type != FAILURE)
    if find_condition(conditions, FAILURE) is not None:
        return conditions
    failed = Condition(
        type=FAILURE,
        status="True",
        reason="FailedCreate" if active < replica_set.spec.replicas else "FailedDelete",
        message=str(failure),
        last_transition_time=time_text(now),
    )
    return (*conditions, failed)

"""What one visit to a Job does, worked out before anything is written.

A finished pod keeps a finalizer until it is counted: its uid is first noted in the status, then the
finalizer goes, then the counter rises, so that no pod is counted twice or lost.

Source: job-controller of Kubernetes v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from windtunnel.controllers.job.backoff import Backoff
from windtunnel.controllers.job.creations import Creation, creations, victims, wanted_pods
from windtunnel.controllers.job.ending import (
    REACHED,
    conclusion,
    condition,
    foresee,
    is_complete,
    time_left,
)
from windtunnel.controllers.job.tally import Tally
from windtunnel.controllers.job.views import JobStatus, JobView
from windtunnel.controllers.pods import AT_ONCE
from windtunnel.controllers.views import Condition, PodView, find_condition
from windtunnel.machinery.timestamp import time_text

_TOO_MANY: Final = (
    "TooManySucceededPods",
    "Too many succeeded pods running after completion count reached",
)


@dataclass(slots=True)
class Plan:
    """What one visit does."""

    status: JobStatus
    """As it is to be once pods are made, deleted and released."""
    delete: tuple[PodView, ...] = ()
    forgive: bool = False
    """The deleted pods lose their finalizer before, so that they never count as failed."""
    create: tuple[Creation, ...] = ()
    release: list[PodView] = field(default_factory=list)
    """Pods that lose their finalizer, noted in the status before."""
    counted: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))
    """uids of those to note as succeeded and failed."""
    interim: Condition | None = None
    """Condition that says how the Job will end."""
    ending: Condition | None = None
    """Condition that ends it, once nothing is left to count or to stop."""
    events: list[tuple[str, str, str]] = field(default_factory=list)
    """(type, reason, message)"""
    backoff: Backoff = field(default_factory=Backoff)
    again_in: float | None = None


def decide(
    job: JobView,
    pods: Sequence[PodView],
    backoff: Backoff,
    now: float,
    *,
    may_act: bool = True,
    released: frozenset[str] = frozenset(),
) -> Plan:
    """Say what one visit does.

    Args:
        job: A Job that has not ended.
        pods: Its pods.
        backoff: Its failures so far.
        now: The present time in seconds.
        may_act: False while earlier creations and deletions have not been seen.
        released: uids of pods whose finalizer is gone although a lagging cache still shows it.
    """
    tally = Tally(job, pods, released, now)
    start = job.status.start_time
    if start is None and not job.spec.suspend:
        start = time_text(now)
    plan = Plan(job.status, backoff=backoff.after(tally.fresh_succeeded, tally.fresh_failed, now))
    ending = foresee(tally, start)
    plan.again_in = None if ending is not None else time_left(tally, start)
    active = len(tally.active)
    ready = sum(pod.ready for pod in tally.active)
    terminating = tally.terminating
    conditions = job.status.conditions
    if ending is not None:
        plan.delete = tuple(tally.active[:AT_ONCE])
        active -= len(plan.delete)
        terminating += len(plan.delete)
        ready -= sum(pod.ready for pod in plan.delete)
        if active or not may_act:
            ending = None
            plan.again_in = 0.0 if active else None
    else:
        managed = may_act and not job.metadata.deleting
        if managed:
            active, terminating, ready = _populate(tally, plan, active, terminating, ready)
        if is_complete(tally, active):
            ending = condition("SuccessCriteriaMet", *REACHED, now)
            if tally.spec.completions is not None and tally.succeeded > tally.spec.completions:
                plan.events.append(("Warning", *_TOO_MANY))
        elif managed:
            conditions, start = _suspend(job, conditions, start, plan, now)
    _release(tally, ending, plan)
    _set_ending(tally, ending, plan)
    plan.status = msgspec.structs.replace(
        job.status,
        start_time=start,
        active=active,
        ready=ready,
        terminating=terminating,
        conditions=conditions,
        completed_indexes=(
            tally.succeeded_indexes.text() if tally.indexed else job.status.completed_indexes
        ),
        failed_indexes=(tally.failed_indexes.text() if tally.per_index and tally.indexed else None),
    )
    return plan


def _populate(
    tally: Tally, plan: Plan, active: int, terminating: int, ready: int
) -> tuple[int, int, int]:
    """Plan which pods to make or delete; returns the counters after that."""
    spec = tally.spec
    if spec.suspend:
        surplus = active
    else:
        surplus = max(active - wanted_pods(tally, active), 0)
    surplus_pods = victims(tally, surplus)
    if surplus_pods:
        plan.delete = tuple(surplus_pods[:AT_ONCE])
        plan.forgive = True
        if len(surplus_pods) > AT_ONCE:
            plan.again_in = 0.0
        gone = len(plan.delete)
        lost = sum(pod.ready for pod in plan.delete)
        return active - gone, terminating + gone, ready - lost
    if spec.suspend:
        return active, terminating, ready
    missing = wanted_pods(tally, active) - active
    if tally.only_failed:
        missing -= terminating
    if missing <= 0:
        return active, terminating, ready
    wait = 0.0 if tally.per_index else plan.backoff.remaining(tally.now)
    if wait > 0:
        plan.again_in = _sooner(plan.again_in, wait)
        return active, terminating, ready
    fresh, wait = creations(tally, missing)
    if not fresh and wait > 0:
        plan.again_in = _sooner(plan.again_in, wait)
        return active, terminating, ready
    plan.create = tuple(fresh[:AT_ONCE])
    if len(fresh) > AT_ONCE:
        plan.again_in = 0.0
    return active + len(plan.create), terminating, ready


def _suspend(
    job: JobView,
    conditions: tuple[Condition, ...],
    start: str | None,
    plan: Plan,
    now: float,
) -> tuple[tuple[Condition, ...], str | None]:
    """Say that the Job was suspended or resumed; returns conditions and start time."""
    present = find_condition(conditions, "Suspended")
    others = tuple(each for each in conditions if each.type != "Suspended")
    if job.spec.suspend:
        if present is not None and present.status == "True":
            return conditions, start
        plan.events.append(("Normal", "Suspended", "Job suspended"))
        suspended = condition("Suspended", "JobSuspended", "Job suspended", now)
        return (*others, suspended), None
    if present is None or present.status == "False":
        return conditions, start
    plan.events.append(("Normal", "Resumed", "Job resumed"))
    resumed = condition("Suspended", "JobResumed", "Job resumed", now, status="False")
    return (*others, resumed), time_text(now)


def _release(tally: Tally, ending: Condition | None, plan: Plan) -> None:
    """Plan which pods are counted now and lose their finalizer."""
    fails = ending is not None and ending.type == "FailureTarget"
    waiting = {pod.metadata.uid for pod in tally.waiting_indexes().values()}
    succeeded, failed = plan.counted
    for pod in tally.tracked:
        uid = pod.metadata.uid
        is_failed = tally.failed(pod)
        done = pod.status.phase == "Succeeded"
        free = tally.job.metadata.deleting or ending is not None or done
        if not free and (not is_failed or uid in waiting):
            continue
        if len(plan.release) == AT_ONCE:
            plan.again_in = 0.0
            break
        plan.release.append(pod)
        if done and uid not in tally.noted_failed:
            if not tally.indexed and uid not in tally.noted_succeeded:
                succeeded.append(uid)
        elif (is_failed or fails) and uid not in tally.noted_failed:
            valid = not tally.indexed or tally.index(pod) is not None
            if valid and tally.ruling(pod).counts:
                failed.append(uid)


def _set_ending(tally: Tally, ending: Condition | None, plan: Plan) -> None:
    if ending is None:
        return
    if find_condition(tally.job.status.conditions, ending.type) is None:
        plan.interim = ending
    plan.ending = conclusion(ending, tally.now)


def _sooner(one: float | None, other: float) -> float:
    return other if one is None else min(one, other)

"""What one visit to a Job does, worked out before anything is written.

A finished pod keeps a finalizer until it is counted: its uid is first noted in the status, then the
finalizer goes, then the counter rises, so that no pod is counted twice or lost.

Source: job-controller of Kubernetes v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from windtunnel.controllers.job.backoff import Backoff, finish_time, wait_after
from windtunnel.controllers.job.indexes import format_indexes
from windtunnel.controllers.job.policy import judge_success
from windtunnel.controllers.job.tally import (
    FAILURE_COUNT,
    IGNORED_COUNT,
    Tally,
    all_failures,
    noted_number,
)
from windtunnel.controllers.job.views import JobStatus, JobView
from windtunnel.controllers.pods import AT_ONCE, pick_victims, seconds
from windtunnel.controllers.views import Condition, PodView, find_condition
from windtunnel.machinery.timestamp import time_text

_LIMIT: Final = ("BackoffLimitExceeded", "Job has reached the specified backoff limit")
_DEADLINE: Final = ("DeadlineExceeded", "Job was active longer than specified deadline")
_MAX_INDEXES: Final = (
    "MaxFailedIndexesExceeded",
    "Job has exceeded the specified maximal number of failed indexes",
)
_INDEXES: Final = ("FailedIndexes", "Job has failed indexes")
_TOO_MANY: Final = (
    "TooManySucceededPods",
    "Too many succeeded pods running after completion count reached",
)
_REACHED: Final = ("CompletionsReached", "Reached expected number of succeeded pods")


@dataclass(frozen=True, slots=True)
class Creation:
    """One pod to make."""

    index: int | None = None
    failures: int | None = None
    """How often this index has failed, where the Job limits that."""
    ignored: int = 0


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


def is_finished(conditions: Iterable[Condition]) -> bool:
    """Whether the Job has come to its end."""
    return any(each.type in ("Complete", "Failed") and each.status == "True" for each in conditions)


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
    ending = _ending(tally, start, plan)
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
        if _is_complete(tally, active):
            ending = _condition("SuccessCriteriaMet", *_REACHED, now)
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
            format_indexes(tally.succeeded_indexes)
            if tally.indexed
            else job.status.completed_indexes
        ),
        failed_indexes=(
            format_indexes(tally.failed_indexes) if tally.per_index and tally.indexed else None
        ),
    )
    return plan


def _ending(tally: Tally, start: str | None, plan: Plan) -> Condition | None:
    """Return the condition that says how the Job ends, if it does."""
    job, spec, now = tally.job, tally.spec, tally.now
    for decided in ("SuccessCriteriaMet", "FailureTarget"):
        present = find_condition(job.status.conditions, decided)
        if present is not None and present.status == "True":
            return present
    for pod in tally.pods:
        verdict = tally.verdict(pod) if spec.pod_failure_policy and tally.failed(pod) else None
        if verdict is not None and verdict.message:
            return _condition("FailureTarget", "PodFailurePolicy", verdict.message, now)
    if tally.failures > spec.backoff_limit or tally.restarts_exceed():
        return _condition("FailureTarget", *_LIMIT, now)
    if spec.active_deadline_seconds is not None and not spec.suspend and start is not None:
        left = (seconds(start) or now) + spec.active_deadline_seconds - now
        if left <= 0:
            return _condition("FailureTarget", *_DEADLINE, now)
        plan.again_in = left
    if not tally.indexed:
        return None
    if tally.per_index:
        lost = len(tally.failed_indexes)
        if spec.max_failed_indexes is not None and lost > spec.max_failed_indexes:
            return _condition("FailureTarget", *_MAX_INDEXES, now)
        if lost and lost + len(tally.succeeded_indexes) >= tally.completions:
            return _condition("FailureTarget", *_INDEXES, now)
    why = judge_success(spec.success_policy, tally.completions, tally.succeeded_indexes)
    return _condition("SuccessCriteriaMet", "SuccessPolicy", why, now) if why else None


def _populate(
    tally: Tally, plan: Plan, active: int, terminating: int, ready: int
) -> tuple[int, int, int]:
    """Plan which pods to make or delete; returns the counters after that."""
    spec = tally.spec
    if spec.suspend:
        surplus = active
    else:
        surplus = max(active - _wanted(tally, active), 0)
    victims = _victims(tally, surplus)
    if victims:
        plan.delete = tuple(victims[:AT_ONCE])
        plan.forgive = True
        if len(victims) > AT_ONCE:
            plan.again_in = 0.0
        gone = len(plan.delete)
        lost = sum(pod.ready for pod in plan.delete)
        return active - gone, terminating + gone, ready - lost
    if spec.suspend:
        return active, terminating, ready
    missing = _wanted(tally, active) - active
    if tally.only_failed:
        missing -= terminating
    if missing <= 0:
        return active, terminating, ready
    wait = 0.0 if tally.per_index else plan.backoff.remaining(tally.now)
    if wait > 0:
        plan.again_in = _sooner(plan.again_in, wait)
        return active, terminating, ready
    creations, wait = _creations(tally, missing)
    if not creations and wait > 0:
        plan.again_in = _sooner(plan.again_in, wait)
        return active, terminating, ready
    plan.create = tuple(creations[:AT_ONCE])
    if len(creations) > AT_ONCE:
        plan.again_in = 0.0
    return active + len(plan.create), terminating, ready


def _wanted(tally: Tally, active: int) -> int:
    """Return how many pods should be active."""
    spec = tally.spec
    if spec.completions is None:
        return active if tally.succeeded > 0 else spec.parallelism
    return max(min(spec.completions - tally.succeeded, spec.parallelism), 0)


def _victims(tally: Tally, surplus: int) -> list[PodView]:
    """Return the pods to delete: superfluous indexes in any case, then by rank."""
    chosen: list[PodView] = []
    left: list[PodView] = list(tally.active)
    if tally.indexed:
        seen: set[int] = set()
        left = []
        for pod in sorted(tally.active, key=lambda pod: pod.metadata.creation_timestamp):
            number = tally.index(pod)
            if number is None or number in seen:
                chosen.append(pod)
            else:
                seen.add(number)
                left.append(pod)
    more = surplus - len(chosen)
    if more > 0:
        chosen += pick_victims(left, more, {}, tally.now, by_magnitude=False)
    return chosen


def _creations(tally: Tally, missing: int) -> tuple[list[Creation], float]:
    """Return the pods to make, and how long the next one must wait if there is none."""
    if not tally.indexed:
        return [Creation()] * missing, 0.0
    taken = tally.succeeded_indexes | tally.failed_indexes
    taken |= {number for pod in tally.active if (number := tally.index(pod)) is not None}
    if tally.only_failed:
        taken |= {
            number
            for pod in tally.pods
            if pod.metadata.deleting
            and not pod.finished
            and (number := tally.index(pod)) is not None
        }
    free = [number for number in range(tally.completions) if number not in taken][:missing]
    if not tally.per_index:
        return [Creation(number) for number in free], 0.0
    waiting = tally.waiting_indexes()
    creations: list[Creation] = []
    wait = 0.0
    for number in free:
        failed = waiting.get(number)
        left = 0.0
        if failed is not None:
            due = finish_time(failed, tally.now) + wait_after(all_failures(failed) + 1)
            left = max(due - tally.now, 0.0)
        if left > 0:
            wait = min(wait, left) if wait else left
        else:
            creations.append(_replacement(tally, number, failed))
    return creations, wait


def _replacement(tally: Tally, number: int, failed: PodView | None) -> Creation:
    if failed is None:
        return Creation(number, 0)
    count, ignored = noted_number(failed, FAILURE_COUNT), noted_number(failed, IGNORED_COUNT)
    if tally.verdict(failed).counts:
        return Creation(number, count + 1, ignored)
    return Creation(number, count, ignored + 1)


def _is_complete(tally: Tally, active: int) -> bool:
    if tally.spec.completions is None:
        return tally.succeeded > 0 and active == 0
    return tally.succeeded >= tally.spec.completions and active == 0


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
        condition = _condition("Suspended", "JobSuspended", "Job suspended", now)
        return (*others, condition), None
    if present is None or present.status == "False":
        return conditions, start
    plan.events.append(("Normal", "Resumed", "Job resumed"))
    condition = _condition("Suspended", "JobResumed", "Job resumed", now, status="False")
    return (*others, condition), time_text(now)


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
            if valid and tally.verdict(pod).counts:
                failed.append(uid)


def _set_ending(tally: Tally, ending: Condition | None, plan: Plan) -> None:
    if ending is None:
        return
    if find_condition(tally.job.status.conditions, ending.type) is None:
        plan.interim = ending
    type_ = "Complete" if ending.type == "SuccessCriteriaMet" else "Failed"
    plan.ending = _condition(type_, ending.reason, ending.message, tally.now)


def _condition(
    type_: str, reason: str, message: str, now: float, status: str = "True"
) -> Condition:
    text = time_text(now)
    return Condition(
        type=type_,
        status=status,
        reason=reason,
        message=message,
        last_probe_time=text,
        last_transition_time=text,
    )


def _sooner(one: float | None, other: float) -> float:
    return other if one is None else min(one, other)

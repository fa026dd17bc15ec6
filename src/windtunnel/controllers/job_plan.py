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

from windtunnel.controllers.job_backoff import Backoff, finish_time, wait_after
from windtunnel.controllers.job_indexes import format_indexes, index_of, parse_indexes
from windtunnel.controllers.job_policy import Verdict, judge_failure, judge_success
from windtunnel.controllers.pods import AT_ONCE, pick_victims, seconds
from windtunnel.controllers.views import (
    Condition,
    JobStatus,
    JobView,
    PodView,
    find_condition,
)
from windtunnel.kernel.clock import rfc3339

FINALIZER: Final = "batch.kubernetes.io/job-tracking"
FAILURE_COUNT: Final = "batch.kubernetes.io/job-index-failure-count"
IGNORED_COUNT: Final = "batch.kubernetes.io/job-index-ignored-failure-count"
_LIMIT: Final = ("BackoffLimitExceeded", "Job has reached the specified backoff limit")
_DEADLINE: Final = ("DeadlineExceeded", "Job was active longer than specified deadline")
_MAX_INDEXES: Final = (
    "MaxFailedIndexesExceeded",
    "Job has exceeded the specified maximal number of failed indexes",
)
_INDEXES: Final = ("FailedIndexes", "Job has failed indexes")
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
    normal: list[tuple[str, str]] = field(default_factory=list)
    """(reason, message) of Normal events."""
    backoff: Backoff = field(default_factory=Backoff)
    again_in: float | None = None


class _PodSpec(msgspec.Struct, rename="camel"):
    restart_policy: str = "Always"


class _Template(msgspec.Struct):
    spec: _PodSpec = msgspec.field(default_factory=_PodSpec)


def is_finished(conditions: Iterable[Condition]) -> bool:
    """Whether the Job has come to its end."""
    return any(each.type in ("Complete", "Failed") and each.status == "True" for each in conditions)


class _Visit:
    """One visit to one Job: what its pods amount to."""

    def __init__(
        self, job: JobView, pods: Sequence[PodView], released: frozenset[str], now: float
    ) -> None:
        self.job, self.spec, self.now = job, job.spec, now
        self.pods = pods
        self.indexed = job.spec.completion_mode == "Indexed"
        self.per_index = job.spec.backoff_limit_per_index is not None
        self.only_failed = job.spec.pod_replacement_policy == "Failed"
        self.completions = job.spec.completions or 0
        self.tracked = [
            pod
            for pod in pods
            if FINALIZER in pod.metadata.finalizers and pod.metadata.uid not in released
        ]
        self.active = [pod for pod in pods if pod.active]
        self.terminating = sum(pod.metadata.deleting and not pod.finished for pod in pods)
        noted = job.status.uncounted_terminated_pods
        self.noted_succeeded, self.noted_failed = set(noted.succeeded), set(noted.failed)
        self.fresh_succeeded = self._fresh(
            self.noted_succeeded, [pod for pod in self.tracked if pod.status.phase == "Succeeded"]
        )
        self.fresh_failed = self._fresh(
            self.noted_failed, [pod for pod in self.tracked if self.failed(pod)]
        )
        self.succeeded_indexes: set[int] = set()
        self.failed_indexes: set[int] = set()
        if self.indexed:
            self._count_indexes()
            self.succeeded = len(self.succeeded_indexes)
        else:
            self.succeeded = (
                job.status.succeeded + len(self.fresh_succeeded) + len(self.noted_succeeded)
            )
        self.failures = (
            job.status.failed
            + sum(self.verdict(pod).counts for pod in self.fresh_failed)
            + len(self.noted_failed)
        )

    def _fresh(self, noted: set[str], pods: Iterable[PodView]) -> list[PodView]:
        return [
            pod
            for pod in pods
            if pod.metadata.uid not in noted and (not self.indexed or self.index(pod) is not None)
        ]

    def index(self, pod: PodView) -> int | None:
        """Return the pod's completion index, if it has a valid one."""
        return index_of(pod.metadata.annotations, self.spec.completions)

    def failed(self, pod: PodView) -> bool:
        """Whether the pod counts as failed; a deleted one does, unless replacements wait for it."""
        if pod.status.phase == "Failed":
            return True
        return not self.only_failed and pod.metadata.deleting and pod.status.phase != "Succeeded"

    def verdict(self, pod: PodView) -> Verdict:
        """Return what the pod failure policy says."""
        return judge_failure(self.spec.pod_failure_policy, pod, per_index=self.per_index)

    def _count_indexes(self) -> None:
        status = self.job.status
        self.succeeded_indexes = parse_indexes(status.completed_indexes, self.completions)
        for pod in self.fresh_succeeded:
            number = self.index(pod)
            if number is not None:
                self.succeeded_indexes.add(number)
        if not self.per_index:
            return
        self.failed_indexes = parse_indexes(status.failed_indexes, self.completions)
        for pod in self.tracked:
            number = self.index(pod)
            if number is not None and self.failed(pod) and self._index_is_lost(pod):
                self.failed_indexes.add(number)

    def _index_is_lost(self, pod: PodView) -> bool:
        verdict = self.verdict(pod)
        if verdict.action == "FailIndex":
            return True
        limit = self.spec.backoff_limit_per_index
        return limit is not None and verdict.counts and _number(pod, FAILURE_COUNT) >= limit

    def waiting_indexes(self) -> dict[int, PodView]:
        """Return the failed pod of each index that waits for its replacement."""
        if not self.per_index:
            return {}
        taken = {self.index(pod) for pod in self.active}
        done = self.succeeded_indexes | self.failed_indexes | taken
        waiting: dict[int, PodView] = {}
        for pod in self.tracked:
            number = self.index(pod)
            if number is None or number in done or not self.failed(pod):
                continue
            present = waiting.get(number)
            if present is None or _all_failures(present) <= _all_failures(pod):
                waiting[number] = pod
        return waiting


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
    visit = _Visit(job, pods, released, now)
    start = job.status.start_time
    if start is None and not job.spec.suspend:
        start = rfc3339(now)
    plan = Plan(job.status, backoff=backoff.after(visit.fresh_succeeded, visit.fresh_failed, now))
    ending = _ending(visit, start, plan)
    active = len(visit.active)
    ready = sum(pod.ready for pod in visit.active)
    terminating = visit.terminating
    conditions = job.status.conditions
    if ending is not None:
        plan.delete = tuple(visit.active[:AT_ONCE])
        active -= len(plan.delete)
        terminating += len(plan.delete)
        ready -= sum(pod.ready for pod in plan.delete)
        if active or not may_act:
            ending = None
            plan.again_in = 0.0 if active else None
    else:
        managed = may_act and not job.metadata.deleting
        if managed:
            active, terminating, ready = _populate(visit, plan, active, terminating, ready)
        if _is_complete(visit, active):
            ending = _condition("SuccessCriteriaMet", *_REACHED, now)
            if visit.spec.completions is not None and visit.succeeded > visit.spec.completions:
                plan.normal.append(("TooManySucceededPods", ""))
        elif managed:
            conditions, start = _suspend(job, conditions, start, plan, now)
    _release(visit, ending, plan)
    _set_ending(visit, ending, plan)
    plan.status = msgspec.structs.replace(
        job.status,
        start_time=start,
        active=active,
        ready=ready,
        terminating=terminating,
        conditions=conditions,
        completed_indexes=(
            format_indexes(visit.succeeded_indexes)
            if visit.indexed
            else job.status.completed_indexes
        ),
        failed_indexes=(
            format_indexes(visit.failed_indexes) if visit.per_index and visit.indexed else None
        ),
    )
    return plan


def _ending(visit: _Visit, start: str | None, plan: Plan) -> Condition | None:
    """Return the condition that says how the Job ends, if it does."""
    job, spec, now = visit.job, visit.spec, visit.now
    for decided in ("SuccessCriteriaMet", "FailureTarget"):
        present = find_condition(job.status.conditions, decided)
        if present is not None and present.status == "True":
            return present
    for pod in visit.pods:
        verdict = visit.verdict(pod) if spec.pod_failure_policy and visit.failed(pod) else None
        if verdict is not None and verdict.message:
            return _condition("FailureTarget", "PodFailurePolicy", verdict.message, now)
    if visit.failures > spec.backoff_limit or _restarts_exceed(visit):
        return _condition("FailureTarget", *_LIMIT, now)
    if spec.active_deadline_seconds is not None and not spec.suspend and start is not None:
        left = (seconds(start) or now) + spec.active_deadline_seconds - now
        if left <= 0:
            return _condition("FailureTarget", *_DEADLINE, now)
        plan.again_in = left
    if not visit.indexed:
        return None
    if visit.per_index:
        lost = len(visit.failed_indexes)
        if spec.max_failed_indexes is not None and lost > spec.max_failed_indexes:
            return _condition("FailureTarget", *_MAX_INDEXES, now)
        if lost and lost + len(visit.succeeded_indexes) >= visit.completions:
            return _condition("FailureTarget", *_INDEXES, now)
    why = judge_success(spec.success_policy, visit.completions, visit.succeeded_indexes)
    return _condition("SuccessCriteriaMet", "SuccessPolicy", why, now) if why else None


def _restarts_exceed(visit: _Visit) -> bool:
    """Whether containers of pods that restart them have failed too often."""
    template = msgspec.json.decode(visit.spec.template, type=_Template)
    if template.spec.restart_policy != "OnFailure":
        return False
    total = sum(
        status.restart_count
        for pod in visit.pods
        if pod.status.phase in ("Pending", "Running")
        for status in (*pod.status.init_container_statuses, *pod.status.container_statuses)
    )
    return total > 0 if visit.spec.backoff_limit == 0 else total >= visit.spec.backoff_limit


def _populate(
    visit: _Visit, plan: Plan, active: int, terminating: int, ready: int
) -> tuple[int, int, int]:
    """Plan which pods to make or delete; returns the counters after that."""
    spec = visit.spec
    if spec.suspend:
        surplus = active
    else:
        surplus = max(active - _wanted(visit, active), 0)
    victims = _victims(visit, surplus)
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
    missing = _wanted(visit, active) - active
    if visit.only_failed:
        missing -= terminating
    if missing <= 0:
        return active, terminating, ready
    wait = 0.0 if visit.per_index else plan.backoff.remaining(visit.now)
    if wait > 0:
        plan.again_in = _sooner(plan.again_in, wait)
        return active, terminating, ready
    creations, wait = _creations(visit, missing)
    if not creations and wait > 0:
        plan.again_in = _sooner(plan.again_in, wait)
        return active, terminating, ready
    plan.create = tuple(creations[:AT_ONCE])
    if len(creations) > AT_ONCE:
        plan.again_in = 0.0
    return active + len(plan.create), terminating, ready


def _wanted(visit: _Visit, active: int) -> int:
    """Return how many pods should be active."""
    spec = visit.spec
    if spec.completions is None:
        return active if visit.succeeded > 0 else spec.parallelism
    return max(min(spec.completions - visit.succeeded, spec.parallelism), 0)


def _victims(visit: _Visit, surplus: int) -> list[PodView]:
    """Return the pods to delete: superfluous indexes in any case, then by rank."""
    chosen: list[PodView] = []
    left: list[PodView] = list(visit.active)
    if visit.indexed:
        seen: set[int] = set()
        left = []
        for pod in sorted(visit.active, key=lambda pod: pod.metadata.creation_timestamp):
            number = visit.index(pod)
            if number is None or number in seen:
                chosen.append(pod)
            else:
                seen.add(number)
                left.append(pod)
    more = surplus - len(chosen)
    if more > 0:
        chosen += pick_victims(left, more, {}, visit.now, by_magnitude=False)
    return chosen


def _creations(visit: _Visit, missing: int) -> tuple[list[Creation], float]:
    """Return the pods to make, and how long the next one must wait if there is none."""
    if not visit.indexed:
        return [Creation()] * missing, 0.0
    taken = visit.succeeded_indexes | visit.failed_indexes
    taken |= {number for pod in visit.active if (number := visit.index(pod)) is not None}
    if visit.only_failed:
        taken |= {
            number
            for pod in visit.pods
            if pod.metadata.deleting
            and not pod.finished
            and (number := visit.index(pod)) is not None
        }
    free = [number for number in range(visit.completions) if number not in taken][:missing]
    if not visit.per_index:
        return [Creation(number) for number in free], 0.0
    waiting = visit.waiting_indexes()
    creations: list[Creation] = []
    wait = 0.0
    for number in free:
        failed = waiting.get(number)
        left = 0.0
        if failed is not None:
            due = finish_time(failed, visit.now) + wait_after(_all_failures(failed) + 1)
            left = max(due - visit.now, 0.0)
        if left > 0:
            wait = min(wait, left) if wait else left
        else:
            creations.append(_replacement(visit, number, failed))
    return creations, wait


def _replacement(visit: _Visit, number: int, failed: PodView | None) -> Creation:
    if failed is None:
        return Creation(number, 0)
    count, ignored = _number(failed, FAILURE_COUNT), _number(failed, IGNORED_COUNT)
    if visit.verdict(failed).counts:
        return Creation(number, count + 1, ignored)
    return Creation(number, count, ignored + 1)


def _is_complete(visit: _Visit, active: int) -> bool:
    if visit.spec.completions is None:
        return visit.succeeded > 0 and active == 0
    return visit.succeeded >= visit.spec.completions and active == 0


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
        plan.normal.append(("Suspended", "Job suspended"))
        condition = _condition("Suspended", "JobSuspended", "Job suspended", now)
        return (*others, condition), None
    if present is None or present.status == "False":
        return conditions, start
    plan.normal.append(("Resumed", "Job resumed"))
    condition = _condition("Suspended", "JobResumed", "Job resumed", now, status="False")
    return (*others, condition), rfc3339(now)


def _release(visit: _Visit, ending: Condition | None, plan: Plan) -> None:
    """Plan which pods are counted now and lose their finalizer."""
    fails = ending is not None and ending.type == "FailureTarget"
    waiting = {pod.metadata.uid for pod in visit.waiting_indexes().values()}
    succeeded, failed = plan.counted
    for pod in visit.tracked:
        uid = pod.metadata.uid
        is_failed = visit.failed(pod)
        done = pod.status.phase == "Succeeded"
        free = visit.job.metadata.deleting or ending is not None or done
        if not free and (not is_failed or uid in waiting):
            continue
        if len(plan.release) == AT_ONCE:
            plan.again_in = 0.0
            break
        plan.release.append(pod)
        if done and uid not in visit.noted_failed:
            if not visit.indexed and uid not in visit.noted_succeeded:
                succeeded.append(uid)
        elif (is_failed or fails) and uid not in visit.noted_failed:
            valid = not visit.indexed or visit.index(pod) is not None
            if valid and visit.verdict(pod).counts:
                failed.append(uid)


def _set_ending(visit: _Visit, ending: Condition | None, plan: Plan) -> None:
    if ending is None:
        return
    if find_condition(visit.job.status.conditions, ending.type) is None:
        plan.interim = ending
    type_ = "Complete" if ending.type == "SuccessCriteriaMet" else "Failed"
    plan.ending = _condition(type_, ending.reason, ending.message, visit.now)


def _condition(
    type_: str, reason: str, message: str, now: float, status: str = "True"
) -> Condition:
    text = rfc3339(now)
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


def _number(pod: PodView, annotation: str) -> int:
    text = pod.metadata.annotations.get(annotation, "")
    return int(text) if text.isascii() and text.isdecimal() else 0


def _all_failures(pod: PodView) -> int:
    return _number(pod, FAILURE_COUNT) + _number(pod, IGNORED_COUNT)

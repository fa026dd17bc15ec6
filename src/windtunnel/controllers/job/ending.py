"""How a Job ends: what decides it, and the conditions that say so.

Source: job-controller of Kubernetes v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from windtunnel.controllers.job.policy import judge_success
from windtunnel.controllers.job.tally import Tally
from windtunnel.controllers.pods import seconds
from windtunnel.controllers.views import Condition, find_condition
from windtunnel.machinery.timestamp import time_text

_LIMIT: Final = ("BackoffLimitExceeded", "Job has reached the specified backoff limit")
_DEADLINE: Final = ("DeadlineExceeded", "Job was active longer than specified deadline")
_MAX_INDEXES: Final = (
    "MaxFailedIndexesExceeded",
    "Job has exceeded the specified maximal number of failed indexes",
)
_INDEXES: Final = ("FailedIndexes", "Job has failed indexes")
REACHED: Final = ("CompletionsReached", "Reached expected number of succeeded pods")


def is_finished(conditions: Iterable[Condition]) -> bool:
    """Whether the Job has come to its end."""
    return any(each.type in ("Complete", "Failed") and each.status == "True" for each in conditions)


def foresee(tally: Tally, start: str | None) -> Condition | None:
    """Return the condition that says how the Job ends, if it does."""
    job, spec, now = tally.job, tally.spec, tally.now
    for decided in ("SuccessCriteriaMet", "FailureTarget"):
        present = find_condition(job.status.conditions, decided)
        if present is not None and present.status == "True":
            return present
    for pod in tally.pods:
        ruling = tally.ruling(pod) if spec.pod_failure_policy and tally.failed(pod) else None
        if ruling is not None and ruling.message:
            return condition("FailureTarget", "PodFailurePolicy", ruling.message, now)
    if tally.failures > spec.backoff_limit or tally.restarts_exceed():
        return condition("FailureTarget", *_LIMIT, now)
    if time_left(tally, start) == 0:
        return condition("FailureTarget", *_DEADLINE, now)
    if not tally.indexed:
        return None
    if tally.per_index:
        lost = len(tally.failed_indexes)
        if spec.max_failed_indexes is not None and lost > spec.max_failed_indexes:
            return condition("FailureTarget", *_MAX_INDEXES, now)
        if lost and lost + len(tally.succeeded_indexes) >= tally.completions:
            return condition("FailureTarget", *_INDEXES, now)
    why = judge_success(spec.success_policy, tally.completions, tally.succeeded_indexes)
    return condition("SuccessCriteriaMet", "SuccessPolicy", why, now) if why else None


def time_left(tally: Tally, start: str | None) -> float | None:
    """Return the seconds until a running Job's deadline, 0 when it is over, None without one."""
    spec, now = tally.spec, tally.now
    if spec.active_deadline_seconds is None or spec.suspend or start is None:
        return None
    return max((seconds(start) or now) + spec.active_deadline_seconds - now, 0.0)


def is_complete(tally: Tally, active: int) -> bool:
    """Whether enough pods have succeeded and none is left."""
    if tally.spec.completions is None:
        return tally.succeeded > 0 and active == 0
    return tally.succeeded >= tally.spec.completions and active == 0


def conclusion(ending: Condition, now: float) -> Condition:
    """Return the condition that ends a Job as ``ending`` says it will."""
    type_ = "Complete" if ending.type == "SuccessCriteriaMet" else "Failed"
    return condition(type_, ending.reason, ending.message, now)


def condition(type_: str, reason: str, message: str, now: float, status: str = "True") -> Condition:
    """Return a fresh condition of a Job."""
    text = time_text(now)
    return Condition(
        type=type_,
        status=status,
        reason=reason,
        message=message,
        last_probe_time=text,
        last_transition_time=text,
    )

"""What one visit to a CronJob does about its schedule, worked out before anything is written.

Source: cronjob-controller of Kubernetes v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from windtunnel.controllers.cronjob.times import Due, Missed, NeverDue, due, next_after, spoken
from windtunnel.controllers.cronjob.views import CronJobView, JobReference
from windtunnel.controllers.job.views import JobView
from windtunnel.controllers.pods import seconds
from windtunnel.controllers.views import find_condition
from windtunnel.kinds.workload.cron import (
    MalformedSchedule,
    Schedule,
    known_zone,
    parse_schedule,
)

_DELAY_SECONDS: Final = 0.1
"""How long after its time a CronJob is looked at."""
_TOO_MANY: Final = (
    "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
)
_RUNNING: Final = (
    "Not starting job because prior execution is running and concurrency policy is Forbid"
)

Remark = tuple[str, str, str]
"""(type, reason, message) of an event."""


@dataclass(slots=True)
class Plan:
    """What one visit does."""

    start: float | None = None
    """The time to start a Job for."""
    replace: tuple[JobReference, ...] = ()
    """Jobs that are deleted before."""
    events: list[Remark] = field(default_factory=list)
    again_at: float | None = None
    """When the next time is due, provided that what is to be started is."""


def decide(cron_job: CronJobView, active: Sequence[JobReference], now: float) -> Plan:
    """Say whether a Job is to be started now.

    Args:
        cron_job: The CronJob.
        active: The Jobs of it that run.
        now: The present time in seconds.
    """
    plan = Plan()
    spec, status = cron_job.spec, cron_job.status
    zone = spec.time_zone or ""
    if spec.suspend:
        return plan
    if spec.time_zone is not None and not known_zone(zone):
        text = f'invalid timeZone: "{zone}": unknown time zone {zone}'
        plan.events.append(("Warning", "UnknownTimeZone", text))
        return plan
    try:
        schedule = parse_schedule(spec.schedule)
        since = _since(cron_job)
        deadline = spec.starting_deadline_seconds
        floor = since if deadline is None else max(since, now - deadline)
        chance = due(schedule, zone, floor, now)
    except (MalformedSchedule, NeverDue) as error:
        if isinstance(error, MalformedSchedule):
            text = f'unparseable schedule: "{spec.schedule}" : {error}'
            plan.events.append(("Warning", "UnparseableSchedule", text))
        else:
            text = f"invalid schedule: {spec.schedule} : {error}"
            plan.events.append(("Warning", "InvalidSchedule", text))
        return plan
    if chance.missed is Missed.MANY and chance.latest is not None:
        plan.events.append(("Warning", "TooManyMissedTimes", _TOO_MANY))
    time = chance.latest
    plan.again_at = _next(schedule, zone, due(schedule, zone, since, now), now)
    if time is None:
        return plan
    if deadline is not None and time + deadline < now:
        text = f"Missed scheduled time to start a job: {spoken(time)}"
        plan.events.append(("Warning", "MissSchedule", text))
        return plan
    name = job_name(cron_job, time)
    if any(each.name == name for each in active) or seconds(status.last_schedule_time) == time:
        return plan
    if spec.concurrency_policy == "Forbid" and active:
        plan.events.append(("Normal", "JobAlreadyActive", _RUNNING))
        return plan
    if spec.concurrency_policy == "Replace":
        plan.replace = tuple(active)
    plan.start = time
    plan.again_at = _next(schedule, zone, due(schedule, zone, time, now), now)
    return plan


def job_name(cron_job: CronJobView, time: float) -> str:
    """Return the name of the Job for a time: its minutes since the epoch tell it apart."""
    return f"{cron_job.metadata.name}-{int(time) // 60}"


def surplus(jobs: Iterable[JobView], failed: bool, limit: int | None) -> list[JobView]:
    """Return the finished Jobs of one outcome beyond what history keeps, the oldest first."""
    if limit is None:
        return []
    type_ = "Failed" if failed else "Complete"
    finished = [job for job in jobs if outcome(job) == type_]
    finished.sort(key=lambda job: (job.status.start_time or "~", job.metadata.name))
    return finished[: max(len(finished) - limit, 0)]


def outcome(job: JobView) -> str:
    """Return the condition by which a Job has ended; "" for none."""
    for type_ in ("Complete", "Failed"):
        condition = find_condition(job.status.conditions, type_)
        if condition is not None and condition.status == "True":
            return type_
    return ""


def _since(cron_job: CronJobView) -> float:
    """Return from when on times count: the last that was used, or the beginning."""
    last = seconds(cron_job.status.last_schedule_time)
    if last is not None:
        return last
    return seconds(cron_job.metadata.creation_timestamp) or 0.0


def _next(schedule: Schedule, zone: str, standing: Due, now: float) -> float | None:
    """Return when to look again: a moment after the next time."""
    base = standing.latest
    if base is None:
        base = standing.earliest if standing.missed is Missed.NONE else now
    time = next_after(schedule, zone, base)
    return None if time is None else time + _DELAY_SECONDS

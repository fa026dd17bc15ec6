from typing import Any

import msgspec
import pytest

from windtunnel.controllers.cronjob.plan import Plan, decide, job_name, outcome, surplus
from windtunnel.controllers.cronjob.views import CronJobView, JobReference
from windtunnel.controllers.job.views import JobView
from windtunnel.machinery.timestamp import parse_time, time_text

BEGUN = parse_time("2027-01-15T08:00:10Z")
DUE = parse_time("2027-01-15T08:01:00Z")
ACTIVE = (JobReference(name="cj-1", uid="u"),)


def cron_job(last: str | None = None, **spec: Any) -> CronJobView:
    tree = {
        "metadata": {"name": "cj", "creationTimestamp": time_text(BEGUN)},
        "spec": {"schedule": "* * * * *", **spec},
        "status": {"lastScheduleTime": last},
    }
    return msgspec.convert(tree, CronJobView)


def reasons(plan: Plan) -> list[str]:
    return [reason for _, reason, _ in plan.events]


PLANS: dict[str, tuple[CronJobView, float, tuple[JobReference, ...], float | None, list[str]]] = {
    "not yet": (cron_job(), BEGUN + 5, (), None, []),
    "due": (cron_job(), DUE, (), DUE, []),
    "due, though one runs": (cron_job(), DUE, ACTIVE, DUE, []),
    "started already": (cron_job(last=time_text(DUE)), DUE + 5, (), None, []),
    "held back by one that runs": (
        cron_job(concurrencyPolicy="Forbid"), DUE, ACTIVE, None, ["JobAlreadyActive"]
    ),
    "instead of one that runs": (cron_job(concurrencyPolicy="Replace"), DUE, ACTIVE, DUE, []),
    "suspended": (cron_job(suspend=True), DUE, (), None, []),
    "just in time": (cron_job(startingDeadlineSeconds=20), DUE + 19, (), DUE, []),
    "too late": (
        cron_job(startingDeadlineSeconds=20, schedule="1 * * * *"), DUE + 30, (), None, []
    ),
    "many missed": (
        cron_job(last=time_text(DUE - 18000)), DUE, (), DUE, ["TooManyMissedTimes"]
    ),
    "few missed within the deadline": (
        cron_job(last=time_text(DUE - 18000), startingDeadlineSeconds=600), DUE, (), DUE, []
    ),
    "no schedule": (cron_job(schedule="x"), DUE, (), None, ["UnparseableSchedule"]),
    "a day that never comes": (cron_job(schedule="0 0 30 2 *"), DUE, (), None, ["InvalidSchedule"]),
    "no such zone": (cron_job(timeZone="No/Where"), DUE, (), None, ["UnknownTimeZone"]),
}  # fmt: skip


@pytest.mark.parametrize(("view", "now", "active", "start", "why"), PLANS.values(), ids=PLANS)
def test_a_visit(
    view: CronJobView,
    now: float,
    active: tuple[JobReference, ...],
    start: float | None,
    why: list[str],
) -> None:
    plan = decide(view, active, now)

    assert plan.start == start
    assert reasons(plan) == why


def test_it_is_looked_at_again_just_after_the_next_time() -> None:
    assert decide(cron_job(), (), BEGUN).again_at == DUE + 0.1
    assert decide(cron_job(), (), DUE + 0.1).again_at == DUE + 60.1
    assert decide(cron_job(last=time_text(DUE)), (), DUE + 30).again_at == DUE + 60.1
    assert decide(cron_job(suspend=True), (), DUE).again_at is None


def test_replacing_ends_all_that_run() -> None:
    assert decide(cron_job(concurrencyPolicy="Replace"), ACTIVE, DUE).replace == ACTIVE
    assert decide(cron_job(), ACTIVE, DUE).replace == ()


def test_a_job_is_named_after_its_minute() -> None:
    assert job_name(cron_job(), DUE) == f"cj-{int(DUE) // 60}"


def job(name: str, condition: str, start: float) -> JobView:
    conditions = [{"type": condition, "status": "True"}] if condition else []
    status = {"startTime": time_text(start), "conditions": conditions}
    return msgspec.convert({"metadata": {"name": name}, "status": status}, JobView)


def test_history_keeps_the_latest_of_each_outcome() -> None:
    jobs = [
        job("c2", "Complete", DUE + 2),
        job("c1", "Complete", DUE + 1),
        job("f1", "Failed", DUE),
        job("runs", "", DUE),
    ]

    assert [each.metadata.name for each in surplus(jobs, failed=False, limit=1)] == ["c1"]
    assert [each.metadata.name for each in surplus(jobs, failed=True, limit=0)] == ["f1"]
    assert surplus(jobs, failed=False, limit=None) == []
    assert [outcome(each) for each in jobs] == ["Complete", "Complete", "Failed", ""]

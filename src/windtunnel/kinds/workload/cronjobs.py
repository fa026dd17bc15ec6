"""Cron jobs: a job by the clock.

Source: batch/v1 of v1.36.3.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.pod.template import default_template, drop_disabled
from windtunnel.kinds.rules import checks
from windtunnel.kinds.rules.checks import none_negative
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.kinds.workload import jobs
from windtunnel.kinds.workload.cron import MalformedSchedule, parse_schedule, zone_problem
from windtunnel.kinds.workload.job_policies import default_policies
from windtunnel.machinery import names
from windtunnel.machinery.age import age
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    invalid,
    not_supported,
    required,
)

_JOB: Final = "spec.jobTemplate.spec"
_LONGEST_NAME: Final = 52
"""Eleven characters are left for the suffix that the controller appends to make a job's name."""


def _default(tree: Tree) -> None:
    spec = tree.setdefault("spec", {})
    spec.setdefault("concurrencyPolicy", "Allow")
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)
    job = spec.setdefault("jobTemplate", {}).setdefault("spec", {})
    default_policies(job)
    default_template(job.setdefault("template", {}))
    drop_disabled(job["template"]["spec"])


def _validate_schedule(spec: Tree, before: Tree | None) -> list[Violation]:
    schedule = spec.get("schedule") or ""
    if not schedule:
        return [required("spec.schedule")]
    found: list[Violation] = []
    try:
        parse_schedule(schedule)
    except MalformedSchedule as problem:
        found.append(invalid("spec.schedule", schedule, str(problem)))
    had_zone = before is not None and "TZ" in (before.get("schedule") or "")
    if "TZ" in schedule and not had_zone:
        text = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        found.append(invalid("spec.schedule", schedule, text))
    elif "TZ" in schedule and spec.get("timeZone") is not None:
        text = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
        found.append(invalid("spec.schedule", schedule, text))
    return found


def _validate_spec(spec: Tree, before: Tree | None) -> list[Violation]:
    found = _validate_schedule(spec, before)
    found += none_negative(spec, "spec", "startingDeadlineSeconds")
    zone = spec.get("timeZone")
    if zone is not None and (before is None or before.get("timeZone") != zone):
        problem = zone_problem(zone)
        if problem:
            found.append(invalid("spec.timeZone", zone, problem))
    policies = ["Allow", "Forbid", "Replace"]
    found += checks.one_of_needed(spec.get("concurrencyPolicy"), "spec.concurrencyPolicy", policies)
    job = dig(spec, "jobTemplate", "spec") or {}
    found += jobs.validate_template_spec(job, _JOB)
    if job.get("selector") is not None:
        text = "`selector` will be auto-generated"
        found.append(invalid(f"{_JOB}.selector", job["selector"], text))
    if job.get("manualSelector"):
        found.append(not_supported(f"{_JOB}.manualSelector", True, ["nil", "false"]))
    return found + none_negative(
        spec, "spec", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"
    )


def _validate(tree: Tree) -> list[Violation]:
    found = _validate_spec(tree.get("spec") or {}, None)
    name = checks.name_cell(tree)
    if len(name) > _LONGEST_NAME:
        found.append(invalid("metadata.name", name, names.longer_than(_LONGEST_NAME)))
    return found


def _validate_update(new: Tree, old: Tree) -> list[Violation]:
    return _validate_spec(new.get("spec") or {}, old.get("spec") or {})


def _warnings(new: Tree, old: Tree | None) -> list[str]:
    spec, job = new.get("spec") or {}, dig(new, "spec", "jobTemplate", "spec") or {}
    found: list[str] = []
    if old is None:
        found = checks.name_warnings(new) + jobs.spec_warnings(job, _JOB)
    elif spec != old.get("spec"):
        found = jobs.spec_warnings(job, _JOB)
    if "TZ" in (spec.get("schedule") or "") and old is not None:
        found.append(
            "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see"
            " https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
        )
    return found


def _cells(tree: Tree, now: float) -> list[Any]:
    spec, status = tree.get("spec") or {}, tree.get("status") or {}
    last = status.get("lastScheduleTime")
    job = dig(spec, "jobTemplate", "spec") or {}
    suspend = spec.get("suspend")
    return [
        checks.name_cell(tree),
        spec.get("schedule") or "",
        spec.get("timeZone") or "<none>",
        "<unset>" if suspend is None else str(suspend),
        len(status.get("active") or ()),
        age(last, now) if last else "<none>",
        checks.age_cell(tree, now),
        *checks.container_cells(job.get("template") or {}),
        checks.selector_cell(job.get("selector")),
    ]


RULES: Final = Rules(
    default=_default,
    prepare_create=checks.without_status(),
    prepare_update=checks.keep_status,
    validate_create=_validate,
    validate_update=_validate_update,
    warnings=_warnings,
    cells=_cells,
)
DECLARATIONS: Final = {"cronjobs.batch": Declared(generation="spec", rules=RULES)}

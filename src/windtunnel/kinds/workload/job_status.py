"""What a job's status may say, and how it may change: a finished job stays finished.

A rule on a field is only asked when that field changes, so that an old status that breaks a rule
does not stop unrelated updates. Source: batch/v1 of v1.36.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from windtunnel.kinds.rules.checks import IMMUTABLE, go_value, none_negative, unshown
from windtunnel.kinds.workload.job_indexes import (
    MalformedIndexes,
    first_shared_index,
    parse_indexes,
)
from windtunnel.machinery.timestamp import parse_time
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import (
    Violation,
    duplicate,
    invalid,
    required,
)


def condition_is_true(status: Tree, kind: str) -> bool:
    """Say whether the status has this condition with value True."""
    return _has_condition(status, kind, "True")


def _has_condition(status: Tree, kind: str, value: str) -> bool:
    return any(
        condition.get("type") == kind and condition.get("status") == value
        for condition in status.get("conditions") or ()
    )


@dataclass(slots=True)
class _Facts:
    """What the rules ask of one status."""

    status: Tree
    complete: bool = field(init=False)
    failed: bool = field(init=False)
    failing: bool = field(init=False)
    succeeding: bool = field(init=False)

    def __post_init__(self) -> None:
        self.complete = condition_is_true(self.status, "Complete")
        self.failed = condition_is_true(self.status, "Failed")
        self.failing = condition_is_true(self.status, "FailureTarget")
        self.succeeding = condition_is_true(self.status, "SuccessCriteriaMet")

    @property
    def finished(self) -> bool:
        return self.complete or self.failed


@dataclass(slots=True)
class _Step:
    """A status and the one before it."""

    spec: Tree
    new: _Facts
    old: _Facts

    def changed(self, *keys: str) -> bool:
        """Say whether any of these fields, or facts of the status, differ."""
        return any(self._differs(key) for key in keys)

    def _differs(self, key: str) -> bool:
        if key in ("complete", "failed", "failing", "succeeding", "finished"):
            return bool(getattr(self.new, key) != getattr(self.old, key))
        return (self.new.status.get(key) or None) != (self.old.status.get(key) or None)


def _conditions(text: str) -> Violation:
    return unshown("status.conditions", text)


def validate_status(new: Tree, old: Tree) -> list[Violation]:
    """Judge a write to the status of a job."""
    spec, status = new.get("spec") or {}, new.get("status") or {}
    step = _Step(spec, _Facts(status), _Facts(old.get("status") or {}))
    found = none_negative(status, "status", "active", "succeeded", "failed", "ready", "terminating")
    found += _uncounted(status)
    found += _ends(step)
    found += _indexes(step)
    found += _counts(step)
    return [*found, *_success(step), *_transitions(step)]


def _uncounted(status: Tree) -> list[Violation]:
    found: list[Violation] = []
    seen: set[str] = set()
    pods = status.get("uncountedTerminatedPods") or {}
    for group in ("succeeded", "failed"):
        for index, uid in enumerate(pods.get(group) or ()):
            where = f"status.uncountedTerminatedPods.{group}[{index}]"
            if not uid:
                found.append(invalid(where, uid, "must not be empty"))
            elif uid in seen:
                found.append(duplicate(where, uid))
            seen.add(uid)
    return found


def _ends(step: _Step) -> Iterator[Violation]:
    now, status = step.new, step.new.status
    start, end = status.get("startTime"), status.get("completionTime")
    if now.complete and now.failed and step.changed("complete", "failed"):
        yield _conditions("cannot set Complete=True and Failed=true conditions")
    if now.complete and now.failing and step.changed("complete", "failing"):
        yield _conditions("cannot set Complete=True and FailureTarget=true conditions")
    if step.changed("complete", "completionTime"):
        if end is not None and not now.complete:
            text = "cannot set completionTime when there is no Complete=True condition"
            yield invalid("status.completionTime", end, text)
        if end is None and now.complete:
            text = "completionTime is required for Complete jobs"
            yield required("status.completionTime", text)
    moved = step.changed("startTime", "completionTime")
    if start and end and moved and parse_time(end) < parse_time(start):
        text = "must be equal to or after `startTime`"
        yield invalid("status.completionTime", end, text)
    if now.failed and not now.failing and step.changed("failed", "failedIndexes"):
        text = "cannot set Failed=True condition without the FailureTarget=true condition"
        yield _conditions(text)
    if now.complete and not now.succeeding and step.changed("complete", "succeeding"):
        text = "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"
        yield _conditions(text)
    if not now.finished:
        return
    if (status.get("active") or 0) > 0 and step.changed("finished", "active"):
        text = "active>0 is invalid for finished job"
        yield invalid("status.active", status["active"], text)
    never_ran = step.spec.get("suspend") and step.spec.get("completions") == 0
    if start is None and not never_ran and step.changed("finished", "startTime"):
        yield required("status.startTime", "startTime is required for finished job")
    pods = status.get("uncountedTerminatedPods") or {}
    waiting = pods.get("failed") or pods.get("succeeded")
    if waiting and step.changed("finished", "uncountedTerminatedPods"):
        text = "must be empty for finished job"
        yield invalid("status.uncountedTerminatedPods", go_value(pods), text)


def _indexes(step: _Step) -> Iterator[Violation]:
    spec, status = step.spec, step.new.status
    completions = spec.get("completions")
    completed, failed = status.get("completedIndexes") or "", status.get("failedIndexes")
    per_index = spec.get("backoffLimitPerIndex") is not None
    if completions is not None and step.changed("completedIndexes"):
        yield from _malformed("completedIndexes", completed, completions)
    if completions is not None and per_index and failed and step.changed("failedIndexes"):
        yield from _malformed("failedIndexes", failed, completions)
    if completed and spec.get("completionMode") != "Indexed" and step.changed("completedIndexes"):
        text = "cannot set non-empty completedIndexes when non-indexed completion mode"
        yield invalid("status.completedIndexes", completed, text)
    if failed is not None and not per_index and step.changed("failedIndexes"):
        text = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
        yield invalid("status.failedIndexes", failed, text)
    if completions is not None and failed and step.changed("failedIndexes", "completedIndexes"):
        shared = first_shared_index(completed, failed, completions)
        if shared is not None:
            text = f"failedIndexes and completedIndexes overlap at index: {shared}"
            yield invalid("status.failedIndexes", failed, text)


def _malformed(key: str, text: str, completions: int) -> Iterator[Violation]:
    try:
        parse_indexes(text, completions)
    except MalformedIndexes as problem:
        yield invalid(f"status.{key}", text, f"error parsing {key}: {problem}")


def _counts(step: _Step) -> Iterator[Violation]:
    status = step.new.status
    terminating, ready = status.get("terminating") or 0, status.get("ready")
    if terminating > 0 and step.new.finished and step.changed("finished", "terminating"):
        text = "terminating>0 is invalid for finished job"
        yield invalid("status.terminating", terminating, text)
    too_many = ready is not None and ready > (status.get("active") or 0)
    if too_many and step.changed("ready", "active"):
        yield invalid("status.ready", ready, "cannot set more ready pods than active")


def _success(step: _Step) -> Iterator[Violation]:
    now = step.new
    if now.succeeding and now.failed:
        yield _conditions("cannot set SuccessCriteriaMet=True and Failed=true conditions")
    if now.succeeding and now.failing:
        yield _conditions("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")
    if step.spec.get("successPolicy") is not None and now.complete and not now.succeeding:
        yield _conditions(
            "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"
        )


def _transitions(step: _Step) -> Iterator[Violation]:
    now, before = step.new, step.old
    for kind, was, is_now in (
        ("Failed", before.failed, now.failed),
        ("Complete", before.complete, now.complete),
        ("FailureTarget", before.failing, now.failing),
    ):
        if was and not is_now:
            yield _conditions(f"cannot disable the terminal {kind}=True condition")
    may_shrink = step.spec.get("completionMode") == "Indexed" and step.spec.get(
        "completions"
    ) == step.spec.get("parallelism")
    for key in ("failed", "succeeded"):
        count = now.status.get(key) or 0
        if count < (before.status.get(key) or 0) and not (key == "succeeded" and may_shrink):
            yield invalid(f"status.{key}", count, f"cannot decrease the {key} counter")
    end, old_end = now.status.get("completionTime"), before.status.get("completionTime")
    if end and old_end and end != old_end:
        yield invalid("status.completionTime", end, IMMUTABLE)
    start, old_start = now.status.get("startTime"), before.status.get("startTime")
    resumes = condition_is_true(before.status, "Suspended") and _has_condition(
        now.status, "Suspended", "False"
    )
    if old_start and start != old_start and not resumes and not step.spec.get("suspend"):
        text = "field is immutable for unsuspended job once set"
        yield invalid("status.startTime", start, text)
    if before.succeeding and not now.succeeding:
        yield _conditions("cannot disable the SuccessCriteriaMet=True condition")
    if before.complete and not before.succeeding and now.succeeding:
        yield _conditions(
            "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"
        )

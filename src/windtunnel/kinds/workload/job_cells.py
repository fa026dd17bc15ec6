"""How a job is printed in tables."""

from __future__ import annotations

from typing import Any

from windtunnel.kinds.rules import checks
from windtunnel.kinds.workload.job_status import condition_is_true
from windtunnel.machinery.age import short_duration
from windtunnel.machinery.timestamp import parse_time
from windtunnel.machinery.tree import Tree, dig


def _completions_cell(spec: Tree, status: Tree) -> str:
    done = status.get("succeeded") or 0
    if spec.get("completions") is not None:
        return f"{done}/{spec['completions']}"
    parallelism = spec.get("parallelism") or 0
    return f"{done}/1 of {parallelism}" if parallelism > 1 else f"{done}/1"


def _duration_cell(status: Tree, now: float) -> str:
    if status.get("startTime") is None:
        return ""
    end = status.get("completionTime")
    return short_duration((parse_time(end) if end else now) - parse_time(status["startTime"]))


def _status_cell(tree: Tree) -> str:
    status = tree.get("status") or {}
    for condition in ("Complete", "Failed"):
        if condition_is_true(status, condition):
            return condition
    if dig(tree, "metadata", "deletionTimestamp"):
        return "Terminating"
    for condition in ("Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if condition_is_true(status, condition):
            return condition
    return "Running"


def job_cells(tree: Tree, now: float) -> list[Any]:
    """Return the cells of a job's row."""
    spec, status = tree.get("spec") or {}, tree.get("status") or {}
    return [
        checks.name_cell(tree),
        _status_cell(tree),
        _completions_cell(spec, status),
        _duration_cell(status, now),
        checks.age_cell(tree, now),
        *checks.container_cells(spec.get("template") or {}),
        checks.selector_cell(spec.get("selector")),
    ]

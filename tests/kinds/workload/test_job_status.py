from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

from windtunnel.kinds.workload.job_status import condition_is_true, validate_status
from windtunnel.machinery.violations import Violation

START, END = "2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z"


def texts(violations: Iterable[Violation]) -> list[str]:
    return [str(violation) for violation in violations]


def conditions(*kinds: str) -> list[dict[str, str]]:
    return [{"type": kind, "status": "True"} for kind in kinds]


@dataclass
class Case:
    old: dict[str, Any]
    new: dict[str, Any]
    want: list[str] = field(default_factory=list)
    spec: dict[str, Any] = field(default_factory=dict)


COMPLETE = {
    "startTime": START,
    "completionTime": END,
    "succeeded": 1,
    "conditions": conditions("SuccessCriteriaMet", "Complete"),
}
CASES = {
    "a job may run": Case({}, {"startTime": START, "active": 1, "ready": 1}),
    "a job may complete": Case({"startTime": START}, COMPLETE),
    "a finished job stays finished": Case(
        COMPLETE,
        {**COMPLETE, "conditions": conditions("SuccessCriteriaMet"), "completionTime": None},
        ["status.conditions: Invalid value: cannot disable the terminal Complete=True condition"],
    ),
    "an unrelated change does not wake old sins": Case(
        {"ready": 3, "active": 1}, {"ready": 3, "active": 1, "failed": 1}
    ),
    "counters only grow": Case(
        {"failed": 2, "succeeded": 2},
        {"failed": 1, "succeeded": 1},
        [
            "status.failed: Invalid value: 1: cannot decrease the failed counter",
            "status.succeeded: Invalid value: 1: cannot decrease the succeeded counter",
        ],
    ),
    "an elastic indexed job may shrink": Case(
        {"succeeded": 2},
        {"succeeded": 1},
        spec={"completionMode": "Indexed", "completions": 1, "parallelism": 1},
    ),
    "the start is fixed while the job runs": Case(
        {"startTime": START},
        {"startTime": END},
        [
            'status.startTime: Invalid value: "2026-01-01T00:05:00Z":'
            " field is immutable for unsuspended job once set"
        ],
    ),
    "a resumed job starts anew": Case(
        {"startTime": START, "conditions": conditions("Suspended")},
        {"startTime": END, "conditions": [{"type": "Suspended", "status": "False"}]},
    ),
    "an index cannot both fail and complete": Case(
        {},
        {"completedIndexes": "0-2", "failedIndexes": "2,4"},
        [
            'status.failedIndexes: Invalid value: "2,4":'
            " failedIndexes and completedIndexes overlap at index: 2"
        ],
        spec={"completionMode": "Indexed", "completions": 5, "backoffLimitPerIndex": 1},
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_status_may_change_only_so(case: Case) -> None:
    found = validate_status(
        {"spec": case.spec, "status": case.new}, {"spec": case.spec, "status": case.old}
    )

    assert texts(found) == case.want


def test_a_condition_holds_only_when_it_is_true() -> None:
    status = {"conditions": [{"type": "A", "status": "True"}, {"type": "B", "status": "False"}]}

    assert condition_is_true(status, "A")
    assert not condition_is_true(status, "B")
    assert not condition_is_true(status, "C")

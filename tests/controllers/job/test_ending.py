from __future__ import annotations

import pytest
from tests.controllers.job.test_plan import NOW, job, pod

from windtunnel.controllers.job.ending import conclusion, condition, foresee, is_complete, time_left
from windtunnel.controllers.job.tally import Tally
from windtunnel.machinery.timestamp import time_text

START = time_text(NOW)


def tally(*phases: str, after: float = 0.0, **spec: object) -> Tally:
    pods = [pod(f"p{number}", phase) for number, phase in enumerate(phases)]
    return Tally(job(None, **spec), pods, frozenset(), NOW + after)


@pytest.mark.parametrize(("after", "left"), [(0, 30.0), (29, 1.0), (30, 0.0), (99, 0.0)])
def test_a_deadline_runs_out(after: float, left: float) -> None:
    assert time_left(tally(after=after, activeDeadlineSeconds=30), START) == left


def test_without_a_deadline_or_a_start_no_time_runs() -> None:
    assert time_left(tally(), START) is None
    assert time_left(tally(activeDeadlineSeconds=30), None) is None
    assert time_left(tally(activeDeadlineSeconds=30, suspend=True), START) is None


def test_a_job_past_its_deadline_will_fail() -> None:
    ending = foresee(tally(after=31, activeDeadlineSeconds=30), START)

    assert ending is not None
    assert (ending.type, ending.reason) == ("FailureTarget", "DeadlineExceeded")


def test_too_many_failures_end_a_job() -> None:
    ending = foresee(tally("Failed", "Failed", backoffLimit=1), START)

    assert ending is not None
    assert ending.reason == "BackoffLimitExceeded"


def test_enough_successes_complete_a_job_once_nothing_runs() -> None:
    assert is_complete(tally("Succeeded", completions=1), active=0)
    assert not is_complete(tally("Succeeded", completions=1), active=1)
    assert not is_complete(tally("Running", completions=1), active=0)


@pytest.mark.parametrize(
    ("decided", "want"), [("SuccessCriteriaMet", "Complete"), ("FailureTarget", "Failed")]
)
def test_what_was_decided_is_what_happens(decided: str, want: str) -> None:
    last = conclusion(condition(decided, "Why", "because", NOW), NOW)

    assert (last.type, last.reason, last.message) == (want, "Why", "because")

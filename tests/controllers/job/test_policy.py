from typing import Any

import msgspec
import pytest

from windtunnel.controllers.job.policy import FailureRuling, judge_failure, judge_success
from windtunnel.controllers.views import PodView
from windtunnel.kinds.workload.job_indexes import Indexes

POLICY = {
    "rules": [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [9]}},
        {
            "action": "FailJob",
            "onExitCodes": {"containerName": "c", "operator": "In", "values": [42]},
        },
        {"action": "Count", "onExitCodes": {"operator": "NotIn", "values": [1, 42]}},
    ]
}


def pod(code: int = 0, container: str = "c", condition: str = "") -> PodView:
    conditions = [{"type": condition, "status": "True"}] if condition else []
    ended = {"name": container, "state": {"terminated": {"exitCode": code}}}
    tree: dict[str, Any] = {
        "metadata": {"name": "p", "namespace": "ns"},
        "status": {"conditions": conditions, "containerStatuses": [ended]},
    }
    return msgspec.convert(tree, PodView)


FAILS = "Container c for pod ns/p failed with exit code 42 matching FailJob rule at index 2"
VERDICTS = {
    "the first matching rule decides": (
        pod(42, condition="DisruptionTarget"),
        True,
        FailureRuling("Ignore"),
    ),
    "an exit code fails the job": (pod(42), True, FailureRuling("FailJob", FAILS)),
    "only of the named container": (pod(42, "other"), True, FailureRuling()),
    "an index may be given up": (pod(9), True, FailureRuling("FailIndex")),
    "but only where indexes are limited": (pod(9), False, FailureRuling("Count")),
    "a success never matches": (pod(0), True, FailureRuling()),
    "nothing matches": (pod(1), True, FailureRuling()),
}


@pytest.mark.parametrize(("one", "per_index", "want"), VERDICTS.values(), ids=VERDICTS.keys())
def test_a_failure_is_judged(one: PodView, per_index: bool, want: FailureRuling) -> None:
    assert judge_failure(POLICY, one, per_index=per_index) == want


def test_only_an_ignored_failure_does_not_count() -> None:
    assert [FailureRuling(action).counts for action in ("", "Count", "Ignore")] == [
        True,
        True,
        False,
    ]


SUCCESSES = {
    "all named indexes": ({"succeededIndexes": "0,2"}, {0, 2}, True),
    "one is missing": ({"succeededIndexes": "0,2"}, {0, 1}, False),
    "enough of the named ones": ({"succeededIndexes": "0-3", "succeededCount": 2}, {0, 3}, True),
    "enough of any": ({"succeededCount": 2}, {7, 8}, True),
    "too few": ({"succeededCount": 3}, {7, 8}, False),
}


@pytest.mark.parametrize(("rule", "have", "enough"), SUCCESSES.values(), ids=SUCCESSES.keys())
def test_success_is_judged(rule: dict[str, Any], have: set[int], enough: bool) -> None:
    why = judge_success({"rules": [{"succeededCount": 99}, rule]}, 10, Indexes() | have)

    assert why == ("Matched rules at index 1" if enough else None)

from __future__ import annotations

from tests.kinds.workload.test_job_status import texts

from windtunnel.kinds.workload.job_policies import (
    default_policies,
    validate_failure_policy,
    validate_success_policy,
)


def test_a_pattern_on_conditions_means_true_unless_it_says_otherwise() -> None:
    patterns = [{"type": "A"}, {"type": "B", "status": "False"}]
    default_policies({"podFailurePolicy": {"rules": [{"onPodConditions": patterns}]}})

    assert [pattern["status"] for pattern in patterns] == ["True", "False"]


def test_a_job_without_policies_has_nothing_to_judge() -> None:
    assert validate_failure_policy({}, "spec") == []
    assert validate_success_policy({}, "spec") == []


def test_no_more_than_255_exit_codes_may_be_listed() -> None:
    codes = {"operator": "In", "values": list(range(1, 258))}
    spec = {"podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": codes}]}}

    assert texts(validate_failure_policy(spec, "spec")) == [
        "spec.podFailurePolicy.rules[0].onExitCodes.values: Too many: 257:"
        " must have at most 255 items"
    ]

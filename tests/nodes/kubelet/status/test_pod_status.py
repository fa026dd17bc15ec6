"""What of a pod's status is written."""

from __future__ import annotations

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.status.pod_status import rejected_status, status_patch

READY: Tree = {"type": "Ready", "status": "True", "lastTransitionTime": "1"}


def test_nothing_is_written_where_nothing_has_changed() -> None:
    status: Tree = {"phase": "Running", "conditions": [READY], "podIPs": [{"ip": "1"}]}

    assert status_patch({**status, "somebody": "else's"}, status) == {}


def test_what_is_gone_is_taken_away() -> None:
    old: Tree = {"podIP": "1", "podIPs": [{"ip": "1"}], "reason": "x"}

    assert status_patch(old, {}) == {
        "podIP": None,
        "podIPs": [{"ip": "1", "$patch": "delete"}],
        "reason": None,
    }


def test_only_conditions_that_changed_are_named_and_the_order_of_all() -> None:
    other: Tree = {"type": "Other", "status": "False"}
    unready = {**READY, "status": "False", "reason": "No"}

    assert status_patch({"conditions": [READY, other]}, {"conditions": [other, unready]}) == {
        "conditions": [unready],
        "$setElementOrder/conditions": [{"type": "Other"}, {"type": "Ready"}],
    }


def test_a_reason_that_no_longer_holds_goes_from_its_condition() -> None:
    old = {**READY, "status": "False", "reason": "No"}
    patch = status_patch({"conditions": [old]}, {"conditions": [READY]})

    assert patch["conditions"] == [{**READY, "reason": None}]


def test_a_refused_pod_loses_its_conditions() -> None:
    pod: Tree = {"metadata": {"generation": 2}, "status": {"qosClass": "Burstable"}}
    status = rejected_status(pod, "OutOfcpu", "too much", 0.0)

    assert status["message"] == "Pod was rejected: too much"
    assert status["qosClass"] == "Burstable"
    assert status_patch({"conditions": [READY]}, status)["conditions"] == [
        {"type": "Ready", "$patch": "delete"}
    ]

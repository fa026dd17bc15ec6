"""The conditions of a node that its kubelet owns."""

from __future__ import annotations

from windtunnel.nodes.kubelet.node.conditions import ISOLATED, node_conditions, same_conditions


def test_a_time_changes_only_with_its_status() -> None:
    first = node_conditions([], "1")
    later = node_conditions(first, "2")
    worse = node_conditions(later, "3", "the disk is gone")

    assert {each["lastTransitionTime"] for each in later} == {"1"}
    assert {each["lastHeartbeatTime"] for each in later} == {"2"}
    assert worse[-1]["lastTransitionTime"] == "3"
    assert worse[-1]["message"] == "the disk is gone"


def test_conditions_of_others_come_first_and_stay() -> None:
    other = {"type": "Other", "status": "True"}

    assert node_conditions([other], "1")[0] is other


def test_times_do_not_make_a_difference() -> None:
    first = node_conditions([], "1")

    assert same_conditions(first, node_conditions(first, "2"))
    assert not same_conditions(first, node_conditions(first, "2", "no"))


def test_what_a_node_cannot_do_is_a_condition_for_as_long_as_that_is_so() -> None:
    first = node_conditions([], "1", flaws={ISOLATED: "no namespaces here"})

    assert first[0] == {
        "type": ISOLATED,
        "status": "False",
        "lastHeartbeatTime": "1",
        "lastTransitionTime": "1",
        "reason": "ContainersNotIsolated",
        "message": "no namespaces here",
    }
    assert ISOLATED not in {each["type"] for each in node_conditions(first, "2")}

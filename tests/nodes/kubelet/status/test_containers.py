"""The status of each container."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.nodes.kubelet.pods.test_plan import record

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.pod_records import PodRecords
from windtunnel.nodes.kubelet.runtime.protocol import ContainerRecord
from windtunnel.nodes.kubelet.status.containers import (
    Evidence,
    Trouble,
    as_listed,
    container_statuses,
)


def told(
    *records: ContainerRecord, pod: dict[str, Any] | None = None, **sources: Any
) -> dict[str, Tree]:
    spec = {"containers": [{"name": "b"}, {"name": "a", "image": "i"}]}
    found = PodRecords.of(records)
    known = {
        "records": found,
        "active": found,
        "ready": lambda record: True,
        "started": lambda record: True,
        "health": lambda name: [],
        "last_words": lambda record: "",
        **sources,
    }
    return container_statuses({"metadata": {}, "spec": spec, **(pod or {})}, Evidence(**known))


def test_a_container_that_nobody_has_made_waits() -> None:
    assert told()["a"]["state"] == {"waiting": {"reason": "ContainerCreating"}}


def test_a_running_container_is_told_from_its_record() -> None:
    status = told(record("a"))["a"]

    assert status["containerID"] == "containerd://a-0"
    assert (status["ready"], status["started"]) == (True, True)


def test_the_run_before_is_the_last_state() -> None:
    status = told(record("a", 3, 0), record("a", None, 1))["a"]

    assert status["restartCount"] == 1
    assert status["lastState"]["terminated"]["exitCode"] == 3


def test_trouble_with_the_next_start_hides_the_last_end() -> None:
    trouble = {"a": Trouble("CrashLoopBackOff", "back-off")}
    status = told(record("a", 3), troubles=trouble)["a"]

    assert status["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert status["lastState"]["terminated"]["exitCode"] == 3


def test_trouble_does_not_matter_to_a_pod_that_was_deleted() -> None:
    trouble = {"a": Trouble("ImagePullBackOff", "back-off")}
    status = told(troubles=trouble, pod={"metadata": {"deletionTimestamp": "x"}})["a"]

    assert status["state"]["waiting"]["reason"] == "ContainerCreating"


def test_a_container_that_was_lost_while_it_ran_has_been_restarted() -> None:
    old = {"name": "a", "restartCount": 2, "state": {"running": {}}, "lastState": {}}
    status = told(pod={"status": {"containerStatuses": [old]}})["a"]

    assert status["restartCount"] == 3
    assert status["lastState"]["terminated"]["reason"] == "ContainerStatusUnknown"


def test_a_run_that_ended_with_its_node_is_history() -> None:
    gone = replace(record("a", 255, 1), reason="Unknown")
    status = told(gone, active=PodRecords.of([]))["a"]

    assert status["state"] == {"waiting": {"reason": "ContainerCreating"}}
    assert status["lastState"]["terminated"]["containerID"] == "containerd://a-1"
    assert status["restartCount"] == 1
    assert (
        "terminated" in told(replace(gone, reason="Error"), active=PodRecords.of([]))["a"]["state"]
    )


def test_app_containers_are_listed_by_name_init_containers_in_order() -> None:
    pod: Tree = {
        "metadata": {},
        "spec": {
            "containers": [{"name": "b"}, {"name": "a"}],
            "initContainers": [{"name": "z"}, {"name": "y"}],
        },
    }
    listed = as_listed(pod, {name: {"name": name} for name in "abyz"})

    assert [each["name"] for each in listed["containerStatuses"]] == ["a", "b"]
    assert [each["name"] for each in listed["initContainerStatuses"]] == ["z", "y"]


def test_a_message_that_a_container_left_is_shown() -> None:
    ended = replace(record("a", 1), reason="Error")
    status = told(ended, last_words=lambda record: "bye")["a"]

    assert status["state"]["terminated"]["message"] == "bye"

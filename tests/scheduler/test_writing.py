"""What the scheduler writes, field for field."""

from __future__ import annotations

from tests.build import gpus
from tests.scheduler.conftest import Stage

from windtunnel.machinery.tree import Key


def test_the_event_of_a_bound_pod(stage: Stage) -> None:
    stage.node("a")
    pod = stage.pod("p")
    stage.start()

    (event,) = stage.events()
    metadata, regarding = event.pop("metadata"), event.pop("regarding")
    assert metadata["name"].startswith("p.")
    assert regarding == {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": "p",
        "namespace": "default",
        "resourceVersion": pod["metadata"]["resourceVersion"],
        "uid": pod["metadata"]["uid"],
    }
    assert {field: event[field] for field in event if not field.startswith("deprecated")} == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "action": "Binding",
        "eventTime": "2027-01-15T08:00:00.000000Z",
        "note": "Successfully assigned default/p to a",
        "reason": "Scheduled",
        "reportingController": "default-scheduler",
        "reportingInstance": "default-scheduler-here",
        "type": "Normal",
    }


def test_the_condition_and_event_of_a_pod_without_a_node(stage: Stage) -> None:
    stage.node("a")
    stage.pod("p", requests=gpus(9))
    stage.start()

    message = (
        "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. no new claims to deallocate, "
        "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    )
    (condition,) = stage.get("p")["status"]["conditions"]
    assert condition == {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": message,
        "lastProbeTime": None,
        "lastTransitionTime": "2027-01-15T08:00:00Z",
        "observedGeneration": 1,
    }
    (event,) = stage.events()
    assert (event["type"], event["reason"], event["action"], event["note"]) == (
        "Warning", "FailedScheduling", "Scheduling", message,
    )  # fmt: skip


def test_the_same_failure_again_writes_no_second_condition_and_a_series(stage: Stage) -> None:
    stage.node("a")
    stage.start()
    stage.pod("p", requests=gpus(9))
    stage.run()
    for _ in range(4):
        stage.scheduler.engine.queue.activate(Key("default", "p"))
        stage.node("b", allocatable=gpus(0))
        stage.client.delete("nodes", Key("", "b"))
        stage.run(1)

    events = [event for event in stage.events() if event["reason"] == "FailedScheduling"]
    assert [event.get("series", {}).get("count") for event in events] == [None, 2]
    assert len(stage.get("p")["status"]["conditions"]) == 1


def test_a_victim_is_told_why_before_it_is_deleted(stage: Stage) -> None:
    stage.client.create(
        "priorityclasses.scheduling.k8s.io", {"metadata": {"name": "vip"}, "value": 9}
    )
    stage.node("a")
    stage.pod("low", requests=gpus(8))
    stage.start()
    high = stage.pod("high", requests=gpus(8), priorityClassName="vip")
    stage.run()

    conditions = stage.get("low")["status"]["conditions"]
    (told,) = [one for one in conditions if one["type"] == "DisruptionTarget"]
    assert (told["status"], told["reason"], told["message"]) == (
        "True",
        "PreemptionByScheduler",
        "default-scheduler: preempting to accommodate a higher priority pod",
    )
    (event,) = [event for event in stage.events() if event["reason"] == "Preempted"]
    assert event["note"] == f"Preempted by pod {high['metadata']['uid']} on node a"
    assert event["related"]["name"] == "high"

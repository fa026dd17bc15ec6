"""The scheduler on the real API core: pods get nodes, or are told why not."""

from __future__ import annotations

from tests.build import gpus
from tests.scheduler.conftest import Stage

from windtunnel.machinery.tree import Key, dig


def condition(stage: Stage, name: str) -> tuple[str, str]:
    conditions = stage.get(name)["status"]["conditions"]
    (found,) = [one for one in conditions if one["type"] == "PodScheduled"]
    return found["status"], found.get("message", "")


def test_what_exists_at_the_start_is_scheduled(stage: Stage) -> None:
    stage.node("a")
    stage.pod("p", requests=gpus(8))
    stage.start()

    assert stage.get("p")["spec"]["nodeName"] == "a"
    assert stage.told() == [("Scheduled", "p")]


def test_a_node_that_comes_later_takes_who_waited(stage: Stage) -> None:
    stage.start()
    stage.pod("p", requests=gpus(8))
    stage.run()
    assert condition(stage, "p") == ("False", "no nodes available to schedule pods")

    stage.node("a")
    stage.run(3)

    assert stage.get("p")["spec"]["nodeName"] == "a"


def test_a_full_cluster_says_why_and_room_brings_the_pod_in(stage: Stage) -> None:
    stage.node("a")
    stage.start()
    stage.pod("first", requests=gpus(8))
    stage.run()
    stage.pod("second", requests=gpus(1))
    stage.run()
    assert condition(stage, "second") == (
        "False",
        "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. no new claims to deallocate, "
        "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
    )

    stage.client.delete("pods", Key("default", "first"), grace_seconds=0)
    stage.run(3)

    assert stage.get("second")["spec"]["nodeName"] == "a"
    assert condition(stage, "second")[0] == "True"


def test_a_higher_priority_evicts_and_then_gets_the_node(stage: Stage) -> None:
    vip = {"metadata": {"name": "vip"}, "value": 9}
    stage.client.create("priorityclasses.scheduling.k8s.io", vip)
    stage.node("a")
    stage.start()
    stage.pod("low", requests=gpus(8), terminationGracePeriodSeconds=30)
    stage.run()
    stage.pod("high", requests=gpus(8), priorityClassName="vip")
    stage.run()

    low = stage.get("low")
    assert low["metadata"]["deletionTimestamp"]
    assert stage.get("high")["status"]["nominatedNodeName"] == "a"
    assert ("Preempted", "low") in stage.told()

    stage.client.delete("pods", Key("default", "low"), grace_seconds=0)
    stage.run(3)

    high = stage.get("high")
    assert high["spec"]["nodeName"] == "a"
    assert dig(high, "status", "nominatedNodeName") is None


def test_many_pods_are_placed_in_small_steps(stage: Stage) -> None:
    for number in range(10):
        stage.node(f"n{number}")
    stage.start()
    for number in range(80):
        stage.pod(f"p{number}", requests=gpus(1))
    stage.run()

    nodes = [stage.get(f"p{number}")["spec"].get("nodeName") for number in range(80)]
    assert sorted(nodes) == sorted([f"n{number}" for number in range(10)] * 8)


def test_gates_keep_a_pod_until_they_are_removed(stage: Stage) -> None:
    stage.node("a")
    stage.start()
    stage.pod("p", schedulingGates=[{"name": "g"}])
    stage.run()
    assert "nodeName" not in stage.get("p")["spec"]

    tree = stage.get("p")
    tree["spec"]["schedulingGates"] = []
    stage.client.update("pods", tree)
    stage.run()

    assert stage.get("p")["spec"]["nodeName"] == "a"


def test_after_a_stop_nothing_happens(stage: Stage) -> None:
    stage.node("a")
    stage.start()
    stage.scheduler.stop()
    stage.pod("p")
    stage.run(5)

    assert "nodeName" not in stage.get("p")["spec"]


def test_a_pod_that_waits_tells_two_events_and_later_how_often(stage: Stage) -> None:
    """As recorded of kube-scheduler 1.36.3: the first failure changes the pod, so the second is
    another event; that one becomes a series, in whatever words the pod is refused."""
    stage.node("a")
    stage.start()
    stage.pod("waits", requests=gpus(9))
    for name in ("one", "two", "three", "four"):
        stage.pod(name, requests=gpus(1))
        stage.run(1)
        stage.client.delete("pods", Key("default", name), grace_seconds=0)
        stage.run(20)

    def counts() -> list[int | None]:
        return [
            dig(event, "series", "count")
            for event in stage.events()
            if event["reason"] == "FailedScheduling"
        ]

    assert counts() == [None, 2]
    stage.client.delete("pods", Key("default", "waits"), grace_seconds=0)
    stage.run(720)
    assert counts() == [None, 4]

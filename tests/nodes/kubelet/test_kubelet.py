"""The part as a whole: whose pods it runs, and what it knows of them."""

from __future__ import annotations

from tests.nodes.kubelet.bench import NODE, Bench


def test_pods_of_other_nodes_are_left_alone(bench: Bench) -> None:
    bench.world.create("pods", "far", spec={"nodeName": "other", "containers": [bench.container()]})
    bench.run(1)

    assert bench.runtime.containers() == []


def test_the_newest_container_of_a_name_is_found(bench: Bench) -> None:
    bench.pod("p", {"command": ["sleep", "1", "1"]})
    bench.run(2)
    found = bench.kubelet.find("default", "p", "main")

    assert found is not None
    assert found.attempt == 1
    assert bench.kubelet.find("default", "p", "nope") is None


def test_a_pod_is_active_until_it_has_ended(bench: Bench) -> None:
    bench.pod("p", {"command": ["sleep", "1"]}, restartPolicy="Never")
    assert [each["metadata"]["name"] for each in bench.kubelet.active() or []] == ["p"]

    bench.run(2)

    assert bench.kubelet.active() == []
    assert len(bench.kubelet.pods()) == 1


def test_the_next_pod_of_the_same_name_is_another_one(bench: Bench) -> None:
    first = bench.pod("p")
    bench.delete("p", grace=0)
    second = bench.pod("p")
    bench.run(1)

    assert first != second
    assert [each.pod_uid for each in bench.runtime.containers()] == [second]


def test_a_pod_may_be_refused_by_the_node_itself(bench: Bench) -> None:
    bench.run(2)
    bench.pod("p", {"resources": {"requests": {"cpu": "50"}}})

    assert bench.status("p")["reason"] == "OutOfcpu"
    assert bench.get("p")["spec"]["nodeName"] == NODE

from typing import Any

import pytest
from tests.world import World

from windtunnel.controllers.pods import AT_ONCE
from windtunnel.controllers.replicaset import Plan, decide
from windtunnel.machinery.tree import Key, Tree

SETS = "replicasets.apps"


def replica_set(world: World, replicas: int, **more: Any) -> None:
    template = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [CONTAINER]}}
    selector = {"matchLabels": {"app": "a"}}
    spec = {"replicas": replicas, "selector": selector, "template": template, **more}
    world.create(SETS, "rs", spec=spec)
    world.run(0.1)


CONTAINER: Tree = {"name": "c", "image": "app:1"}


@pytest.mark.parametrize(("missing", "want"), [(0, 0), (3, 3), (10_000, AT_ONCE)])
def test_a_step_makes_only_so_many_pods(missing: int, want: int) -> None:
    assert decide(missing, [], {}, 0.0) == Plan(create=want)


def test_it_follows_its_number_up_and_down(world: World) -> None:
    world.node("n1")
    replica_set(world, 50)
    assert len(world.names("pods")) == 50

    world.client.patch(SETS, Key("default", "rs"), {"spec": {"replicas": 2}})
    world.bind("n1")
    world.run(1)

    assert len(world.names("pods")) == 2
    assert world.get(SETS, "rs")["status"] == {
        "replicas": 2,
        "fullyLabeledReplicas": 2,
        "readyReplicas": 2,
        "availableReplicas": 2,
        "terminatingReplicas": 0,
        "observedGeneration": 2,
    }


def test_a_pod_without_manager_is_adopted_and_one_that_stops_matching_released(
    world: World,
) -> None:
    world.create(
        "pods", "stray", metadata={"labels": {"app": "a"}}, spec={"containers": [CONTAINER]}
    )
    replica_set(world, 1)
    assert world.names("pods") == ["stray"]
    assert world.get("pods", "stray")["metadata"]["ownerReferences"][0]["controller"] is True

    world.client.patch("pods", Key("default", "stray"), {"metadata": {"labels": {"app": "b"}}})
    world.run(0.1)

    assert len(world.names("pods")) == 2
    assert "ownerReferences" not in world.get("pods", "stray")["metadata"]


def test_a_failed_pod_is_replaced_and_stays(world: World) -> None:
    world.node("n1")
    replica_set(world, 1)
    world.bind("n1")
    (name,) = world.names("pods")
    world.status(name, {"phase": "Failed"})
    world.run(0.1)

    assert len(world.names("pods")) == 2


def test_a_full_quota_is_said_once_a_try_and_forgotten_when_there_is_room(world: World) -> None:
    world.create("resourcequotas", "q", spec={"hard": {"pods": "1"}})
    world.run(0.1)
    replica_set(world, 5)
    failed = [event for event in world.events() if event[0] == "FailedCreate"]
    assert len(world.names("pods")) == 1
    assert failed[0][1].endswith(
        "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"
    )
    (condition,) = world.get(SETS, "rs")["status"]["conditions"]
    assert (condition["type"], condition["reason"]) == ("ReplicaFailure", "FailedCreate")

    world.client.delete("resourcequotas", Key("default", "q"))
    world.run(60)

    assert len(world.names("pods")) == 5
    assert "conditions" not in world.get(SETS, "rs")["status"]


def test_a_pod_is_available_only_after_it_was_ready_for_long_enough(world: World) -> None:
    world.node("n1")
    replica_set(world, 1, minReadySeconds=30)
    world.bind("n1")
    world.run(1)
    assert "availableReplicas" not in world.get(SETS, "rs")["status"]

    world.run(31)

    assert world.get(SETS, "rs")["status"]["availableReplicas"] == 1


def test_many_pods_in_a_namespace_that_is_going_are_let_be(world: World) -> None:
    world.create("namespaces", "going", "")
    world.run(0.1)
    template = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [CONTAINER]}}
    selector = {"matchLabels": {"app": "a"}}
    spec = {"replicas": AT_ONCE + 5, "selector": selector, "template": template}
    world.create(SETS, "rs", "going", spec=spec)
    world.client.delete("namespaces", Key("", "going"))

    world.run(120)

    assert world.client.get("namespaces", Key("", "going")) is None

from typing import Any

import pytest
from tests.world import World

from windtunnel.machinery.tree import Key, Tree

SETS = "statefulsets.apps"
REVISIONS = "controllerrevisions.apps"
CLAIMS = "persistentvolumeclaims"
CLAIM = {
    "metadata": {"name": "data"},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "fast",
        "resources": {"requests": {"storage": "1Gi"}},
    },
}


@pytest.fixture(autouse=True)
def node(world: World) -> None:
    world.node("n1")


def template(image: str = "app:1") -> Tree:
    spec = {"containers": [{"name": "c", "image": image}], "terminationGracePeriodSeconds": 0}
    return {"metadata": {"labels": {"app": "db"}}, "spec": spec}


def stateful_set(world: World, replicas: int = 2, **spec: Any) -> None:
    selector = {"matchLabels": {"app": "db"}}
    whole = {"replicas": replicas, "selector": selector, "template": template(), **spec}
    world.create(SETS, "db", spec=whole)
    settle(world)


def settle(world: World, rounds: int = 6) -> None:
    for _ in range(rounds):
        world.run(0.5)
        world.bind("n1")
        world.run(0.5)


def change(world: World, **spec: Any) -> None:
    world.client.patch(SETS, Key("default", "db"), {"spec": spec})


def images(world: World) -> list[str]:
    return [pod["spec"]["containers"][0]["image"] for pod in world.client.list("pods", "default")]


def test_pods_come_one_after_the_other(world: World) -> None:
    selector = {"matchLabels": {"app": "db"}}
    world.create(SETS, "db", spec={"replicas": 2, "selector": selector, "template": template()})
    world.run(1)
    assert world.names("pods") == ["db-0"]

    settle(world)

    assert world.names("pods") == ["db-0", "db-1"]
    (revision,) = world.names(REVISIONS)
    assert world.get(SETS, "db")["status"] == {
        "availableReplicas": 2,
        "collisionCount": 0,
        "currentReplicas": 2,
        "currentRevision": revision,
        "observedGeneration": 1,
        "readyReplicas": 2,
        "replicas": 2,
        "updateRevision": revision,
        "updatedReplicas": 2,
    }
    assert ("SuccessfulCreate", "Create Pod db-1 in StatefulSet db successful") in world.events()


def test_an_update_reaches_the_partition_and_then_all(world: World) -> None:
    stateful_set(world, 3)
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
    change(world, template=template("app:2"), updateStrategy=rolling)
    settle(world, 10)
    assert images(world) == ["app:1", "app:2", "app:2"]

    world.client.delete("pods", Key("default", "db-0"))
    settle(world)
    assert images(world) == ["app:1", "app:2", "app:2"]

    change(world, updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 0}})
    settle(world)

    assert images(world) == ["app:2", "app:2", "app:2"]
    status = world.get(SETS, "db")["status"]
    assert status["currentRevision"] == status["updateRevision"]


def test_a_failed_pod_comes_back_under_its_name(world: World) -> None:
    stateful_set(world)
    before = world.get("pods", "db-0")["metadata"]["uid"]
    world.status("db-0", {"phase": "Failed"})
    settle(world)

    assert world.get("pods", "db-0")["metadata"]["uid"] != before


def test_only_so_many_revisions_are_kept(world: World) -> None:
    stateful_set(world, 1, revisionHistoryLimit=1)
    for number in range(2, 6):
        change(world, template=template(f"app:{number}"))
        settle(world, 3)

    revisions = sorted(world.get(REVISIONS, name)["revision"] for name in world.names(REVISIONS))
    assert revisions == [4, 5]


def test_claims_outlive_pods_unless_they_are_to_go(world: World) -> None:
    stateful_set(world, 2, volumeClaimTemplates=[CLAIM])
    change(world, replicas=1)
    settle(world)
    assert world.names(CLAIMS) == ["data-db-0", "data-db-1"]
    text = "Create Claim data-db-0 Pod db-0 in StatefulSet db success"
    assert ("SuccessfulCreate", text) in world.events()

    change(world, replicas=2, persistentVolumeClaimRetentionPolicy={"whenScaled": "Delete"})
    settle(world)
    change(world, replicas=1)
    settle(world)

    assert world.names(CLAIMS) == ["data-db-0"]


def test_a_claim_that_goes_with_its_set_says_so(world: World) -> None:
    policy = {"whenDeleted": "Delete"}
    stateful_set(
        world, 1, volumeClaimTemplates=[CLAIM], persistentVolumeClaimRetentionPolicy=policy
    )
    (owner,) = world.get(CLAIMS, "data-db-0")["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("StatefulSet", "db")

    world.client.delete(SETS, Key("default", "db"))
    settle(world)

    assert world.names(CLAIMS) == []


def test_a_name_that_somebody_else_has_is_waited_for(world: World) -> None:
    spec = {"containers": [{"name": "c", "image": "x"}], "terminationGracePeriodSeconds": 0}
    world.create("pods", "db-0", spec=spec)
    stateful_set(world, 1)
    assert "ownerReferences" not in world.get("pods", "db-0")["metadata"]

    world.client.delete("pods", Key("default", "db-0"))
    world.run(30)

    assert world.get("pods", "db-0")["metadata"]["ownerReferences"][0]["name"] == "db"


def test_a_lost_label_is_put_back(world: World) -> None:
    stateful_set(world, 1)
    label = "statefulset.kubernetes.io/pod-name"
    world.client.patch("pods", Key("default", "db-0"), {"metadata": {"labels": {label: "x"}}})
    settle(world, 1)

    assert world.get("pods", "db-0")["metadata"]["labels"][label] == "db-0"
    assert ("SuccessfulUpdate", "Update Pod db-0 in StatefulSet db successful") in world.events()

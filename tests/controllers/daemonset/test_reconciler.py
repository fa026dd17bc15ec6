from typing import Any

from tests.world import World

from windtunnel.controllers.pods import AT_ONCE
from windtunnel.machinery.tree import Key, Tree

SETS = "daemonsets.apps"
REVISIONS = "controllerrevisions.apps"


def template(image: str = "app:1", **spec: Any) -> Tree:
    container = {"name": "c", "image": image}
    return {
        "metadata": {"labels": {"app": "a"}},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 0, **spec},
    }


def daemon_set(world: World, **spec: Any) -> None:
    whole = {"selector": {"matchLabels": {"app": "a"}}, "template": template(), **spec}
    world.create(SETS, "ds", spec=whole)
    world.run(0.5)


def images(world: World) -> list[str]:
    pods = world.client.list("pods", "default")
    return sorted(pod["spec"]["containers"][0]["image"] for pod in pods)


def place(world: World) -> None:
    """Put each waiting pod on the node it was made for, as a scheduler would."""
    for pod in world.client.list("pods", "default"):
        if not pod["spec"].get("nodeName"):
            terms = pod["spec"]["affinity"]["nodeAffinity"]
            term = terms["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"][0]
            world.client.bind(
                Key("default", pod["metadata"]["name"]), term["matchFields"][0]["values"][0]
            )
    world.run(1)


def test_each_node_gets_a_pod_for_itself_and_so_does_a_late_one(world: World) -> None:
    world.node("n1")
    world.node("n2")
    daemon_set(world)
    place(world)
    world.node("n3")
    world.run(0.5)
    place(world)

    nodes = [pod["spec"]["nodeName"] for pod in world.client.list("pods", "default")]
    assert sorted(nodes) == ["n1", "n2", "n3"]
    assert world.get(SETS, "ds")["status"] == {
        "currentNumberScheduled": 3,
        "desiredNumberScheduled": 3,
        "numberAvailable": 3,
        "numberMisscheduled": 0,
        "numberReady": 3,
        "observedGeneration": 1,
        "updatedNumberScheduled": 3,
    }


def test_a_rollout_and_back_uses_the_first_revision_again(world: World) -> None:
    world.node("n1")
    world.node("n2")
    daemon_set(world)
    place(world)
    first = world.names(REVISIONS)

    for image in ("app:2", "app:1"):
        world.client.patch(SETS, Key("default", "ds"), {"spec": {"template": template(image)}})
        for _ in range(4):
            world.run(1)
            place(world)
        assert images(world) == [image, image]

    revisions = {name: world.get(REVISIONS, name)["revision"] for name in world.names(REVISIONS)}
    assert revisions[first[0]] == 3
    assert sorted(revisions.values()) == [2, 3]


def test_pods_are_exchanged_only_as_they_are_deleted_where_that_is_asked(world: World) -> None:
    world.node("n1")
    daemon_set(world, updateStrategy={"type": "OnDelete"})
    place(world)
    world.client.patch(SETS, Key("default", "ds"), {"spec": {"template": template("app:2")}})
    world.run(5)
    assert images(world) == ["app:1"]

    world.client.delete("pods", Key("default", world.names("pods")[0]))
    world.run(1)

    assert images(world) == ["app:2"]


def test_a_pod_that_fails_again_waits_longer_each_time(world: World) -> None:
    world.node("n1")
    daemon_set(world)
    spans = []
    for _ in range(4):
        place(world)
        (name,) = world.names("pods")
        began = world.clock.now()
        world.status(name, {"phase": "Failed"})
        while world.names("pods") == [name]:
            world.run(0.25)
        spans.append(round(world.clock.now() - began))

    assert spans[0] == 0
    assert spans == sorted(spans)
    assert spans[-1] >= 2
    which = "Found failed daemon pod default/"
    assert any(message.startswith(which) for _, message in world.events())


def test_a_node_that_takes_no_more_pods_keeps_its_own_until_it_drives_them_away(
    world: World,
) -> None:
    world.node("n1")
    daemon_set(world)
    place(world)
    taint = {"key": "k", "effect": "NoSchedule"}
    world.client.patch("nodes", Key("", "n1"), {"spec": {"taints": [taint]}})
    world.run(1)
    assert len(world.names("pods")) == 1
    assert world.get(SETS, "ds")["status"]["numberMisscheduled"] == 1

    world.client.patch(
        "nodes", Key("", "n1"), {"spec": {"taints": [{**taint, "effect": "NoExecute"}]}}
    )
    world.run(1)

    assert world.names("pods") == []


def test_a_node_that_is_gone_changes_nothing(world: World) -> None:
    world.node("n1")
    world.node("n2")
    daemon_set(world)
    place(world)
    before = world.get(SETS, "ds")["status"]

    world.client.delete("nodes", Key("", "n2"))
    world.run(1)

    assert world.get(SETS, "ds")["status"] == before
    assert len(world.names("pods")) == 2


def test_many_pods_in_a_namespace_that_is_going_are_let_be(world: World) -> None:
    for number in range(AT_ONCE + 5):
        world.node(f"n{number}")
    world.create("namespaces", "going", "")
    world.run(0.1)
    whole = {"selector": {"matchLabels": {"app": "a"}}, "template": template()}
    world.create(SETS, "ds", "going", spec=whole)
    world.client.delete("namespaces", Key("", "going"))

    world.run(120)

    assert world.client.get("namespaces", Key("", "going")) is None

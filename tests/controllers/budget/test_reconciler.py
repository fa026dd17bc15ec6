from typing import Any

from tests.world import World

from windtunnel.machinery.tree import Key, Tree

PDBS = "poddisruptionbudgets.policy"


def budget(world: World, **spec: Any) -> None:
    world.create(PDBS, "pdb", spec={"selector": {"matchLabels": {"app": "a"}}, **spec})
    world.run(0.1)


def status(world: World) -> Tree:
    found: Tree = world.get(PDBS, "pdb")["status"]
    return found


def ready_set(world: World, replicas: int) -> None:
    world.node("n1")
    template = {
        "metadata": {"labels": {"app": "a"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    selector = {"matchLabels": {"app": "a"}}
    world.create(
        "replicasets.apps",
        "rs",
        spec={"replicas": replicas, "selector": selector, "template": template},
    )
    world.run(0.1)
    world.bind("n1")


def test_healthy_pods_may_go_down_to_the_bound(world: World) -> None:
    ready_set(world, 3)
    budget(world, maxUnavailable=1)

    found = status(world)
    assert (found["expectedPods"], found["currentHealthy"], found["desiredHealthy"]) == (3, 3, 2)
    assert found["disruptionsAllowed"] == 1
    assert found["conditions"][0]["reason"] == "SufficientPods"


def test_a_pod_that_falls_ill_uses_up_the_budget(world: World) -> None:
    ready_set(world, 3)
    budget(world, maxUnavailable=1)
    world.status(world.names("pods")[0], {"conditions": [{"type": "Ready", "status": "False"}]})
    world.run(0.1)

    assert status(world)["disruptionsAllowed"] == 0
    assert status(world)["conditions"][0]["reason"] == "InsufficientPods"


def test_a_budget_without_pods_allows_nothing_and_says_so(world: World) -> None:
    budget(world, minAvailable=1)

    assert status(world)["disruptionsAllowed"] == 0
    assert ("NoPods", "No matching pods found") in world.events()


def test_a_manager_without_size_fails_safe(world: World) -> None:
    template = {
        "metadata": {"labels": {"app": "a"}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]},
    }
    world.create("jobs.batch", "j", spec={"template": template})
    world.run(0.1)
    budget(world, maxUnavailable=1)

    (condition,) = status(world)["conditions"]
    assert (condition["reason"], condition["message"]) == (
        "SyncFailed",
        "jobs.batch does not implement the scale subresource",
    )


def test_an_eviction_that_never_came_is_forgotten(world: World) -> None:
    ready_set(world, 2)
    budget(world, minAvailable=1)
    name = world.names("pods")[0]
    patch = {"status": {"disruptedPods": {name: "2027-01-15T08:00:00Z"}}}
    world.client.patch(PDBS, Key("default", "pdb"), patch, subresource="status")
    world.run(1)
    assert status(world)["currentHealthy"] == 1

    world.run(130)

    assert status(world)["currentHealthy"] == 2
    assert "disruptedPods" not in status(world)

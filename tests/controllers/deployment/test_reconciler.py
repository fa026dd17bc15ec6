from typing import Any

from tests.world import World

from windtunnel.machinery.tree import Key, Tree
from windtunnel.store import Version

DEPLOYMENTS = "deployments.apps"
SETS = "replicasets.apps"
WEB = Key("default", "web")


def deploy(world: World, replicas: int = 3, image: str = "app:1", **more: Any) -> None:
    world.create(
        DEPLOYMENTS,
        "web",
        spec={
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": image}]},
            },
            **more,
        },
    )
    settle(world)


def change_image(world: World, image: str) -> None:
    containers = [{"name": "c", "image": image}]
    patch = {"spec": {"template": {"spec": {"containers": containers}}}}
    world.client.patch(DEPLOYMENTS, WEB, patch)
    settle(world)


def settle(world: World, seconds: float = 3.0) -> None:
    """Let pods be placed and run until nothing moves any more."""
    for _ in range(int(seconds / 0.1)):
        world.bind("n1")


def images(world: World) -> list[str]:
    return sorted(pod["spec"]["containers"][0]["image"] for pod in world.client.list("pods"))


def condition(world: World, type_: str) -> Tree:
    conditions: list[Tree] = world.get(DEPLOYMENTS, "web")["status"]["conditions"]
    return next(each for each in conditions if each["type"] == type_)


def test_a_changed_template_exchanges_every_pod(world: World) -> None:
    world.node("n1")
    deploy(world)
    change_image(world, "app:2")

    assert images(world) == ["app:2"] * 3
    assert condition(world, "Progressing")["reason"] == "NewReplicaSetAvailable"
    assert condition(world, "Available")["status"] == "True"
    revisions = [
        (
            each["metadata"]["annotations"]["deployment.kubernetes.io/revision"],
            each["spec"]["replicas"],
        )
        for each in world.client.list(SETS)
    ]
    assert sorted(revisions) == [("1", 0), ("2", 3)]


def test_going_back_finds_the_earlier_set_again(world: World) -> None:
    world.node("n1")
    deploy(world)
    change_image(world, "app:2")
    change_image(world, "app:1")

    sets = world.client.list(SETS)
    assert len(sets) == 2
    notes = next(each for each in sets if each["spec"]["replicas"])["metadata"]["annotations"]
    assert notes["deployment.kubernetes.io/revision"] == "3"
    assert notes["deployment.kubernetes.io/revision-history"] == "1"


def test_recreate_makes_no_new_pod_while_an_old_one_lives(world: World) -> None:
    world.node("n1")
    deploy(world, strategy={"type": "Recreate"})
    names = set(world.names("pods"))
    seen: list[bool] = []

    def look(version: Version) -> None:
        if version.type == "ADDED":
            seen.append(bool(names & set(world.names("pods"))))

    world.core.store.subscribe("pods", look)
    change_image(world, "app:2")

    assert images(world) == ["app:2"] * 3
    assert not any(seen)


def test_a_paused_deployment_scales_but_does_not_roll(world: World) -> None:
    world.node("n1")
    deploy(world)
    world.client.patch(DEPLOYMENTS, WEB, {"spec": {"paused": True, "replicas": 4}})
    change_image(world, "app:2")

    assert images(world) == ["app:1"] * 4
    assert condition(world, "Progressing")["reason"] == "DeploymentPaused"


def test_a_rollout_that_gets_nowhere_is_given_up_after_the_deadline(world: World) -> None:
    deploy(world, progressDeadlineSeconds=10)
    world.run(12)

    progressing = condition(world, "Progressing")
    assert (progressing["status"], progressing["reason"]) == ("False", "ProgressDeadlineExceeded")


def test_history_keeps_only_so_many_old_sets(world: World) -> None:
    world.node("n1")
    deploy(world, revisionHistoryLimit=1)
    for number in range(2, 6):
        change_image(world, f"app:{number}")

    kept = {
        each["metadata"]["annotations"]["deployment.kubernetes.io/revision"]
        for each in world.client.list(SETS)
    }
    assert kept == {"4", "5"}


def test_a_taken_name_gives_the_next_hash(world: World) -> None:
    world.node("n1")
    deploy(world)
    (name,) = world.names(SETS)
    world.client.delete(DEPLOYMENTS, WEB, propagation="Background")
    settle(world)
    selector = {"matchLabels": {"app": "other"}}
    template = {
        "metadata": {"labels": {"app": "other"}},
        "spec": {"containers": [{"name": "c", "image": "x"}]},
    }
    world.create(SETS, name, spec={"replicas": 0, "selector": selector, "template": template})
    deploy(world)

    assert world.get(DEPLOYMENTS, "web")["status"]["collisionCount"] == 1
    assert len(images(world)) == 3


def test_its_steps_are_told(world: World) -> None:
    world.node("n1")
    deploy(world, 2)
    (name,) = world.names(SETS)

    assert ("ScalingReplicaSet", f"Scaled up replica set {name} from 0 to 2") in world.events()

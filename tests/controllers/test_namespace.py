from tests.world import World

from windtunnel.controllers.namespace import Remains, decide
from windtunnel.machinery.tree import Key, Tree


def remains(world: World) -> dict[str, tuple[str, str]]:
    conditions: list[Tree] = world.get("namespaces", "x", "")["status"]["conditions"]
    return {each["type"]: (each["status"], each["message"]) for each in conditions}


def test_an_emptied_namespace_goes_after_its_grace(world: World) -> None:
    world.create("namespaces", "x", "")
    for number in range(60):
        world.create("configmaps", f"c{number}", "x")
    world.client.delete("namespaces", Key("", "x"))
    world.run(4.5)
    assert "x" in world.names("namespaces", "")
    assert len(world.names("configmaps", "x")) == 60

    world.run(1)

    assert "x" not in world.names("namespaces", "")
    assert world.names("configmaps", "x") == []


def test_pods_go_first_and_alone(world: World) -> None:
    world.create("namespaces", "x", "")
    world.run(0.1)
    spec = {"containers": [{"name": "c", "image": "i"}], "nodeName": "nowhere"}
    world.create("pods", "p", "x", spec=spec)
    world.create("configmaps", "c", "x")
    world.client.delete("namespaces", Key("", "x"))
    world.run(6)

    assert "c" in world.names("configmaps", "x")
    assert remains(world)["NamespaceContentRemaining"] == (
        "True",
        "Some resources are remaining: pods. has 1 resource instances",
    )

    world.client.delete("pods", Key("x", "p"), grace_seconds=0)
    world.run(20)

    assert "x" not in world.names("namespaces", "")


def test_what_finalizers_hold_is_named(world: World) -> None:
    world.create("namespaces", "x", "")
    world.create("configmaps", "a", "x", metadata={"finalizers": ["b.com/2", "a.com/1"]})
    world.create("secrets", "s", "x", metadata={"finalizers": ["a.com/1"]})
    world.client.delete("namespaces", Key("", "x"))
    world.run(6)

    found = remains(world)
    assert found["NamespaceContentRemaining"][1] == (
        "Some resources are remaining: configmaps. has 1 resource instances, "
        "secrets. has 1 resource instances"
    )
    assert found["NamespaceFinalizersRemaining"][1] == (
        "Some content in the namespace has finalizers remaining: "
        "a.com/1 in 2 resource instances, b.com/2 in 1 resource instances"
    )


def test_somebody_elses_finalizer_holds_the_namespace(world: World) -> None:
    world.create("namespaces", "x", "", spec={"finalizers": ["kubernetes", "example.com/hold"]})
    world.client.delete("namespaces", Key("", "x"))
    world.run(6)

    assert world.get("namespaces", "x", "")["spec"]["finalizers"] == ["example.com/hold"]


def test_a_condition_keeps_its_time_while_its_status_stays() -> None:
    first = decide(Remains(), (), 1_000.0)
    second = decide(Remains(), first, 2_000.0)

    assert second == first

from tests.world import World

from windtunnel import controllers
from windtunnel.machinery.tree import Key

SPEC = {"containers": [{"name": "c", "image": "i"}]}


def test_pods_of_a_vanished_node_go_after_its_quarantine(world: World) -> None:
    world.create("nodes", "n1", "")
    world.create("pods", "p", spec={**SPEC, "nodeName": "n1"})
    world.client.delete("nodes", Key("", "n1"))
    world.run(35)
    assert world.names("pods") == ["p"]

    world.run(30)

    assert world.names("pods") == []


def test_a_deleted_pod_that_was_never_placed_goes(world: World) -> None:
    world.create("pods", "p", spec=SPEC, metadata={"finalizers": ["example.com/hold"]})
    world.client.delete("pods", Key("default", "p"))
    world.client.patch("pods", Key("default", "p"), {"metadata": {"finalizers": None}})
    world.run(25)

    assert world.names("pods") == []


def test_the_oldest_ended_pods_above_the_threshold_go() -> None:
    world = World(controllers.Settings(terminated_pod_gc_threshold=2))
    for number in range(5):
        world.create("pods", f"p{number}", spec=SPEC)
        world.status(f"p{number}", {"phase": "Succeeded"})
        world.run(1)
    world.run(25)

    assert world.names("pods") == ["p3", "p4"]

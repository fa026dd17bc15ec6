from tests.world import World

from windtunnel import controllers
from windtunnel.controllers.node.health import decide
from windtunnel.controllers.views import Condition
from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Key, Tree

QUICK = controllers.Settings(
    node_monitor_grace_period=8, node_startup_grace_period=8, node_eviction_rate=10
)


def condition(world: World, node: str, type_: str) -> Tree:
    conditions: list[Tree] = world.get("nodes", node, "")["status"]["conditions"]
    return next(each for each in conditions if each["type"] == type_)


def beat(world: World, node: str, seconds: int) -> None:
    """Say every second that a node lives, as a kubelet would."""
    for _ in range(seconds):
        condition = {
            "type": "Ready",
            "status": "True",
            "lastHeartbeatTime": time_text(world.clock.now()),
        }
        patch = {"status": {"conditions": [condition]}}
        world.client.patch("nodes", Key("", node), patch, subresource="status", strategic=True)
        world.run(1)


def test_a_node_that_never_spoke_is_unknown_after_its_startup_grace() -> None:
    world = World(QUICK)
    world.create("nodes", "n1", "")
    world.run(9)

    ready = condition(world, "n1", "Ready")
    assert (ready["status"], ready["reason"]) == ("Unknown", "NodeStatusNeverUpdated")
    assert ready["message"] == "Kubelet never posted node status."


def test_a_node_that_falls_silent_is_unknown_and_its_pods_are_not_ready() -> None:
    world = World(QUICK)
    world.create("nodes", "n1", "")
    beat(world, "n1", 3)
    world.create("pods", "p", spec={"nodeName": "n1", "containers": [{"name": "c", "image": "i"}]})
    world.status("p", {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]})
    world.run(7)
    assert condition(world, "n1", "Ready")["status"] == "True"

    world.run(3)

    assert condition(world, "n1", "Ready")["message"] == "Kubelet stopped posting node status."
    (ready,) = world.get("pods", "p")["status"]["conditions"]
    assert ready["status"] == "False"
    assert ("NodeNotReady", "Node n1 status is now: NodeNotReady") in world.events()
    assert ("NodeNotReady", "Node is not ready") in world.events()


def test_a_lease_is_a_sign_of_life() -> None:
    world = World(QUICK)
    world.node("n1")
    world.run(120)

    assert condition(world, "n1", "Ready")["status"] == "True"


def test_coming_and_going_is_told(world: World) -> None:
    world.create("nodes", "n1", "")
    world.run(0.1)
    world.client.delete("nodes", Key("", "n1"))
    world.run(0.1)

    assert world.events() == [
        ("RegisteredNode", "Node n1 event: Registered Node n1 in Controller"),
        ("RemovingNode", "Node n1 event: Removing Node n1 from Controller"),
    ]


def test_the_network_is_no_business_of_health() -> None:
    network = Condition(type="NetworkUnavailable", status="False")
    kept = decide((network,), "2027-01-15T08:00:00Z", 0.0)

    assert kept[0] == network
    assert {each.status for each in kept[1:]} == {"Unknown"}

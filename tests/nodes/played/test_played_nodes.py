from tests.world import World

from windtunnel.apiserver.inprocess import LocalClient
from windtunnel.machinery.tree import Key
from windtunnel.nodes.played import PlayedNodes, Settings

SPEC = {"containers": [{"name": "c", "image": "i"}]}


def pods(world: World, count: int, node: str, **spec: object) -> None:
    for number in range(count):
        world.create("pods", f"{node}-{number}", spec={**SPEC, "nodeName": node, **spec})
    world.run(1)


def addresses(world: World) -> list[str]:
    return [pod["status"]["podIP"] for pod in world.client.list("pods")]


def test_pods_run_and_each_has_an_address_of_its_own(world: World) -> None:
    world.node("n1")
    world.node("n2")
    pods(world, 30, "n1")
    pods(world, 30, "n2")

    assert {pod["status"]["phase"] for pod in world.client.list("pods")} == {"Running"}
    assert len(set(addresses(world))) == 60


def test_after_a_restart_no_address_is_given_twice(world: World) -> None:
    world.node("n1")
    pods(world, 5, "n1")
    world.client.delete("pods", Key("default", "n1-0"))
    world.run(1)
    world.nodes.stop()

    again = PlayedNodes(LocalClient(world.core, "system:kwok", "kwok"), world.loop)
    again.start()
    world.node("n2")
    pods(world, 5, "n2")

    assert len(set(addresses(world))) == 9


def test_a_pod_on_the_hosts_network_has_the_nodes_address(world: World) -> None:
    status = {"addresses": [{"type": "InternalIP", "address": "10.1.2.3"}]}
    metadata = {"annotations": {"kwok.x-k8s.io/node": "fake"}}
    world.create("nodes", "n1", "", metadata=metadata, status=status)
    pods(world, 1, "n1", hostNetwork=True)

    found = world.get("pods", "n1-0")["status"]
    assert (found["hostIP"], found["podIP"]) == ("10.1.2.3", "10.1.2.3")


def test_pods_of_other_nodes_are_left_alone(world: World) -> None:
    world.create("nodes", "real", "")
    pods(world, 1, "real")

    assert world.get("pods", "real-0")["status"]["phase"] == "Pending"


def test_pods_that_came_before_their_node_run_when_it_comes(world: World) -> None:
    pods(world, 2, "n1")
    world.node("n1")
    world.run(1)

    assert len(set(addresses(world))) == 2


def test_a_deleted_pod_is_gone_at_once(world: World) -> None:
    world.node("n1")
    pods(world, 1, "n1")
    world.client.delete("pods", Key("default", "n1-0"))
    world.run(0.1)

    assert world.names("pods") == []


def test_a_node_fails_while_its_chaos_label_stays(world: World) -> None:
    world.node("n1")
    label = "node-not-ready.stage.kwok.x-k8s.io"

    def ready() -> str:
        conditions = world.get("nodes", "n1", "")["status"]["conditions"]
        return next(each["status"] for each in conditions if each["type"] == "Ready")

    world.client.patch("nodes", Key("", "n1"), {"metadata": {"labels": {label: "true"}}})
    world.run(2)
    assert ready() == "False"

    world.client.patch("nodes", Key("", "n1"), {"metadata": {"labels": {label: None}}})
    world.run(2)
    assert ready() == "True"


def test_another_annotation_can_mark_the_nodes(world: World) -> None:
    mine = PlayedNodes(
        LocalClient(world.core, "system:kwok", "kwok"),
        world.loop,
        Settings(annotation="example.com/play", value="yes", identity="mine"),
    )
    mine.start()
    world.create("nodes", "n1", "", metadata={"annotations": {"example.com/play": "yes"}})
    world.run(1)

    assert mine.plays("n1")
    assert not world.nodes.plays("n1")

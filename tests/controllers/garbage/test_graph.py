import pytest
from tests.world import World

from windtunnel.client.cache import Cache
from windtunnel.client.protocol import ChangeType
from windtunnel.controllers.garbage.graph import Graph, Node
from windtunnel.controllers.resources import Resources
from windtunnel.controllers.views import PlainView
from windtunnel.machinery.tree import Key, Tree


def started(world: World, *, cached: bool = False) -> tuple[Graph, list[tuple[ChangeType, str]]]:
    world.controllers.stop()
    cache = Cache(world.client, "configmaps", PlainView)
    cache.start()
    resources = Resources(world.client, world.loop)
    graph = Graph(world.client, resources, {"configmaps": cache} if cached else {})
    heard: list[tuple[ChangeType, str]] = []

    def hear(type_: ChangeType, node: Node, before: Node | None) -> None:
        if node.resource == "configmaps" and node.key.name != "kube-root-ca.crt":
            heard.append((type_, node.key.name))

    graph.on_change(hear)
    graph.start()
    resources.start()
    world.run(0.1)
    heard.clear()
    return graph, heard


def reference(tree: Tree) -> Tree:
    metadata = tree["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": metadata["name"],
        "uid": metadata["uid"],
    }


@pytest.mark.parametrize("cached", [False, True])
def test_dependents_are_found_by_their_owners_uid(world: World, cached: bool) -> None:
    graph, heard = started(world, cached=cached)
    owner = world.create("configmaps", "a")
    uid = owner["metadata"]["uid"]
    assert not graph.has_dependents(uid)

    world.create("configmaps", "b", metadata={"ownerReferences": [reference(owner)]})
    assert [node.key.name for node in graph.dependents(uid)] == ["b"]

    world.client.patch("configmaps", Key("default", "b"), {"metadata": {"ownerReferences": None}})
    assert not graph.has_dependents(uid)

    world.client.delete("configmaps", Key("default", "b"))
    assert heard == [("ADDED", "a"), ("ADDED", "b"), ("MODIFIED", "b"), ("DELETED", "b")]


def test_what_turned_out_to_be_gone_can_be_forgotten(world: World) -> None:
    graph, heard = started(world)
    uid = world.create("configmaps", "a")["metadata"]["uid"]
    graph.forget(uid)
    graph.forget(uid)

    assert graph.get(uid) is None
    assert heard == [("ADDED", "a"), ("DELETED", "a")]


@pytest.mark.parametrize("cached", [False, True])
def test_how_a_deletion_proceeds_is_known(world: World, cached: bool) -> None:
    graph, _ = started(world, cached=cached)
    for name, propagation in (("f", "Foreground"), ("o", "Orphan")):
        owner = world.create("configmaps", name, metadata={"finalizers": ["example.com/hold"]})
        world.client.delete("configmaps", Key("default", name), propagation=propagation)
        node = graph.get(owner["metadata"]["uid"])
        assert node is not None
        assert (node.foreground, node.orphans) == (name == "f", name == "o")


def test_events_are_left_out(world: World) -> None:
    graph, _ = started(world)
    event = world.create(
        "events", "e", involvedObject={"kind": "Pod", "name": "p", "namespace": "default"}
    )

    assert graph.get(event["metadata"]["uid"]) is None

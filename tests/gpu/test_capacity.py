from typing import Any

import msgspec
import pytest
from tests.world import World

from windtunnel.devices import GpuPool, pool_document
from windtunnel.gpu.capacity import GpuCapacity, NodeView, Plan, decide, labels_of
from windtunnel.machinery.tree import Key
from windtunnel.nodes.pools import node_trees, parse_order, pool_config_map

H100 = GpuPool(gpu_product="NVIDIA H100 80GB HBM3", gpu_count=8, gpu_memory=81559)


def node(gpus: str = "", played: bool = True, **labels: str) -> NodeView:
    resources = {"nvidia.com/gpu": gpus} if gpus else {}
    notes = {"kwok.x-k8s.io/node": "fake"} if played else {}
    tree: dict[str, Any] = {
        "metadata": {"labels": labels, "annotations": notes},
        "status": {"capacity": resources, "allocatable": resources},
    }
    return msgspec.convert(tree, NodeView)


LABELS = labels_of(H100)
NOTHING = Plan({}, {})
PLANS = {
    "a bare node lacks everything": (node(), H100, Plan(LABELS, {"nvidia.com/gpu": "8"})),
    "a node that has it all lacks nothing": (node("8", **LABELS), H100, NOTHING),
    "a wrong number is corrected": (node("4", **LABELS), H100, Plan({}, {"nvidia.com/gpu": "8"})),
    "a node that is not played is left alone": (node(played=False), H100, NOTHING),
    "a node of no pool is left alone": (node(), None, NOTHING),
    "no GPUs, no labels": (node(), GpuPool(), Plan({}, {"nvidia.com/gpu": "0"})),
}


@pytest.mark.parametrize(("one", "pool", "want"), PLANS.values(), ids=PLANS.keys())
def test_what_a_node_lacks(one: NodeView, pool: GpuPool | None, want: Plan) -> None:
    assert decide(one, pool) == want


def test_labels_are_those_of_the_catalogue() -> None:
    assert LABELS["nvidia.com/gpu.product"] == "NVIDIA-H100-80GB-HBM3"
    assert LABELS["nvidia.com/gpu.memory"] == "81559"
    assert LABELS["nvidia.com/gpu.family"] == "hopper"


def started(world: World) -> None:
    GpuCapacity(world.client, world.loop).start()
    world.create("namespaces", "gpu-operator", "")


def gpus(world: World) -> list[str]:
    return [
        tree["status"]["allocatable"].get("nvidia.com/gpu", "")
        for tree in world.client.list("nodes")
    ]


@pytest.mark.parametrize("document_first", [True, False])
def test_nodes_of_a_pool_get_their_gpus(world: World, document_first: bool) -> None:
    started(world)
    order = parse_order("a100:40x4")
    if document_first:
        world.client.create("configmaps", pool_config_map(order))
    for tree in node_trees(order):
        world.client.create("nodes", tree)
    if not document_first:
        world.client.create("configmaps", pool_config_map(order))
    world.run(1)

    assert gpus(world) == ["4"] * 40
    labels = world.get("nodes", "a100-7", "")["metadata"]["labels"]
    assert labels["nvidia.com/gpu.count"] == "4"


def test_a_changed_document_is_followed_and_a_broken_one_changes_nothing(world: World) -> None:
    started(world)
    order = parse_order("h100:2x8")
    world.client.create("configmaps", pool_config_map(order))
    for tree in node_trees(order):
        world.client.create("nodes", tree)
    world.run(1)

    key = Key("gpu-operator", "topology-pool-h100")
    data = pool_document("h100", msgspec.structs.replace(H100, gpu_count=6))["data"]
    world.client.patch("configmaps", key, {"data": data})
    world.run(1)
    assert gpus(world) == ["6", "6"]

    world.client.patch("configmaps", key, {"data": {"topology.yml": "nodePools: ["}})
    world.run(1)
    assert gpus(world) == ["6", "6"]


def test_at_rest_nothing_is_written(world: World) -> None:
    started(world)
    order = parse_order("h100:3x8")
    world.client.create("configmaps", pool_config_map(order))
    for tree in node_trees(order):
        world.client.create("nodes", tree)
    world.run(2)
    writes: list[object] = []
    world.core.store.subscribe("nodes", writes.append)
    world.run(60)

    assert writes == []

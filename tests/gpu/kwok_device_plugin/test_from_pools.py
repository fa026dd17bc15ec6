from typing import Any

import msgspec
import pytest
from tests.world import World

from windtunnel.devices import GpuPool, GpuShape, pool_document
from windtunnel.gpu.kwok_device_plugin.amounts import EquippedNode
from windtunnel.gpu.kwok_device_plugin.from_pools import Plan, decide
from windtunnel.gpu.pools import Hardware
from windtunnel.machinery.tree import Key, Tree
from windtunnel.nodes.played.trees import gpu_pool, node_trees, pool_config_map
from windtunnel.nodes.pools import PoolOrder, parse_order

POOL = GpuPool(gpu_product="NVIDIA H100 80GB HBM3", gpu_count=8, gpu_memory=81559)


def made_of(pool: GpuPool) -> Hardware:
    shape = GpuShape(product=pool.gpu_product, memory_mib=pool.gpu_memory, count=pool.gpu_count)
    return Hardware(shape, (), "")


H100 = made_of(POOL)


def node(amount: str = "", played: bool = True, **labels: str) -> EquippedNode:
    resources = {"nvidia.com/gpu": amount} if amount else {}
    notes = {"kwok.x-k8s.io/node": "fake"} if played else {}
    tree: dict[str, Any] = {
        "metadata": {"labels": labels, "annotations": notes},
        "status": {"capacity": resources, "allocatable": resources},
    }
    return msgspec.convert(tree, EquippedNode)


def gpus(amount: str) -> Tree:
    return {part: {"nvidia.com/gpu": amount} for part in ("capacity", "allocatable")}


LABELS = H100.labels()
NOTHING = Plan({}, {})
PLANS = {
    "a bare node lacks everything": (node(), H100, Plan(LABELS, gpus("8"))),
    "a node that has it all lacks nothing": (node("8", **LABELS), H100, NOTHING),
    "a wrong number is corrected": (node("4", **LABELS), H100, Plan({}, gpus("8"))),
    "a node that is not played is left alone": (node(played=False), H100, NOTHING),
    "a node of no pool is left alone": (node(), None, NOTHING),
    "no GPUs, no labels": (node(), made_of(GpuPool()), Plan({}, gpus("0"))),
}


@pytest.mark.parametrize(("one", "pool", "want"), PLANS.values(), ids=PLANS.keys())
def test_what_a_node_lacks(one: EquippedNode, pool: Hardware | None, want: Plan) -> None:
    assert decide(one, pool) == want


def make_nodes(world: World, order: PoolOrder) -> None:
    """Make played nodes of a pool as somebody else would: without GPUs."""
    for tree in node_trees(order):
        metadata = tree["metadata"]
        labels = {"run.ai/simulated-gpu-node-pool": order.name}
        world.node(metadata["name"], labels=labels)


def test_a_node_from_an_order_lacks_nothing() -> None:
    order = parse_order("h100:1x8,label=zone=z1")

    made = made_of(gpu_pool(order))

    assert decide(msgspec.convert(node_trees(order)[0], EquippedNode), made) == NOTHING


def gpus(world: World) -> list[str]:
    return [
        tree["status"]["allocatable"].get("nvidia.com/gpu", "")
        for tree in world.client.list("nodes")
    ]


@pytest.mark.parametrize("document_first", [True, False])
def test_nodes_of_a_pool_get_their_gpus(world: World, document_first: bool) -> None:
    world.create("namespaces", "gpu-operator", "")
    order = parse_order("a100:40x4")
    if document_first:
        world.client.create("configmaps", pool_config_map(order))
    make_nodes(world, order)
    if not document_first:
        world.client.create("configmaps", pool_config_map(order))
    world.run(1)

    assert gpus(world) == ["4"] * 40
    labels = world.get("nodes", "a100-7", "")["metadata"]["labels"]
    assert labels["nvidia.com/gpu.count"] == "4"


def test_a_changed_document_is_followed_and_a_broken_one_changes_nothing(world: World) -> None:
    world.create("namespaces", "gpu-operator", "")
    order = parse_order("h100:2x8")
    world.client.create("configmaps", pool_config_map(order))
    make_nodes(world, order)
    world.run(1)

    key = Key("gpu-operator", "topology-pool-h100")
    data = pool_document("h100", msgspec.structs.replace(POOL, gpu_count=6))["data"]
    world.client.patch("configmaps", key, {"data": data})
    world.run(1)
    assert gpus(world) == ["6", "6"]

    world.client.patch("configmaps", key, {"data": {"topology.yml": "nodePools: ["}})
    world.run(1)
    assert gpus(world) == ["6", "6"]


def test_at_rest_nothing_is_written(world: World) -> None:
    world.create("namespaces", "gpu-operator", "")
    order = parse_order("h100:3x8")
    world.client.create("configmaps", pool_config_map(order))
    make_nodes(world, order)
    world.run(2)
    writes: list[object] = []
    world.core.store.subscribe("nodes", writes.append)
    world.run(60)

    assert writes == []


def test_where_an_operator_works_it_only_gives_what_is_missing(world: World) -> None:
    world.create("namespaces", "gpu-operator", "")
    world.create("configmaps", "topology", "gpu-operator", data={"topology.yml": "nodePools: {}"})
    order = parse_order("h100:2x8")
    world.client.create("configmaps", pool_config_map(order))
    make_nodes(world, order)
    world.run(1)
    assert gpus(world) == ["8", "8"]

    fewer = {"status": {"allocatable": {"nvidia.com/gpu": "7"}}}
    world.client.patch("nodes", Key("", "h100-0"), fewer, subresource="status")
    world.run(1)
    assert gpus(world) == ["7", "8"]

    world.client.delete("configmaps", Key("gpu-operator", "topology"))
    world.run(1)

    assert gpus(world) == ["8", "8"]


def test_a_pool_without_an_operator_is_cut_and_shared_all_the_same(world: World) -> None:
    world.create("namespaces", "gpu-operator", "")
    text = (
        "nodePools: {big: {gpuProduct: NVIDIA-A100-SXM4-80GB, gpuCount: 2, gpuMemory: 81920,"
        " mig: [{devices: [0], mig-devices: {3g.40gb: 2}}],"
        " sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}}}\n"
        "nodePoolLabelKey: run.ai/simulated-gpu-node-pool\nmigStrategy: mixed\n"
    )
    world.create("configmaps", "topology-pool-big", "gpu-operator", data={"topology.yml": text})
    world.node("n", labels={"run.ai/simulated-gpu-node-pool": "big"})
    world.run(1)

    node = world.get("nodes", "n", "")
    gpus = {name: n for name, n in node["status"]["allocatable"].items() if "nvidia" in name}
    assert gpus == {"nvidia.com/gpu": "4", "nvidia.com/mig-3g.40gb": "2"}
    labels = node["metadata"]["labels"]
    assert labels["nvidia.com/gpu.product"] == "NVIDIA-A100-SXM4-80GB-SHARED"
    assert labels["nvidia.com/gpu.count"] == "2"
    assert labels["nvidia.com/mig.strategy"] == "mixed"
    assert labels["nvidia.com/mig-3g.40gb.count"] == "2"

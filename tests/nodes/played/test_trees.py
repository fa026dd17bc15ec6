from windtunnel.nodes.played.trees import node_trees
from windtunnel.nodes.pools import PoolOrder


def test_nodes_are_numbered_on_after_those_that_exist() -> None:
    nodes = node_trees(PoolOrder(name="a", count=2), taken=["a-0", "a-7", "b-9", "a-x", "aa-12"])

    assert [node["metadata"]["name"] for node in nodes] == ["a-8", "a-9"]


def test_a_node_is_played_and_knows_its_pool() -> None:
    (node,) = node_trees(PoolOrder(name="a", labels=(("zone", "z1"),)))

    assert node["metadata"]["annotations"]["kwok.x-k8s.io/node"] == "fake"
    assert node["metadata"]["labels"]["run.ai/simulated-gpu-node-pool"] == "a"
    assert node["metadata"]["labels"]["zone"] == "z1"
    assert "taints" not in node["spec"]


def test_a_node_has_its_gpus_from_birth() -> None:
    (node,) = node_trees(PoolOrder(name="a", gpus=4))

    assert node["status"]["capacity"]["nvidia.com/gpu"] == "4"
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == "4"
    assert node["metadata"]["labels"]["nvidia.com/gpu.count"] == "4"

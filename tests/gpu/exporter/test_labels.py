from tests.devices.cut import A100, cut_node, slicing

from windtunnel.devices import NodeTopology, TopologyGpu
from windtunnel.gpu.exporter.labels import relabelled, wanted_labels

TOPOLOGY = NodeTopology(
    gpu_memory=11441,
    gpu_product="Tesla K80 (rev 2)",
    gpus=(TopologyGpu(), TopologyGpu()),
    mig_strategy="mixed",
)
WANTED = {
    "nvidia.com/gpu.memory": "11441",
    "nvidia.com/gpu.product": "Tesla-K80--rev-2",
    "nvidia.com/gpu.count": "2",
    "nvidia.com/gpu.present": "true",
    "nvidia.com/mig.strategy": "mixed",
    "run.ai/fake.gpu": "true",
}


def test_what_labels_say() -> None:
    assert wanted_labels(TOPOLOGY) == WANTED


def test_only_a_node_that_says_something_else_is_put_right() -> None:
    node = {"metadata": {"name": "n1", "labels": {"keep": "me", "nvidia.com/gpu.count": "9"}}}

    right = relabelled(node, TOPOLOGY)

    assert right is not None
    assert right["metadata"] == {"name": "n1", "labels": {"keep": "me"} | WANTED}
    assert node["metadata"]["labels"]["nvidia.com/gpu.count"] == "9"
    assert relabelled(right, TOPOLOGY) is None
    assert relabelled({"metadata": {"name": "n1"}}, TOPOLOGY) is not None


def test_labels_of_sharing_come_and_go_with_it() -> None:
    shared = cut_node(None, sharing=slicing(10))
    node = {"metadata": {"name": "n1", "labels": {}}}

    right = relabelled(node, shared)

    assert right is not None
    labels = right["metadata"]["labels"]
    assert labels["nvidia.com/gpu.product"] == f"{A100}-SHARED"
    assert (labels["nvidia.com/gpu.count"], labels["nvidia.com/gpu.replicas"]) == ("1", "10")
    alone = relabelled(right, cut_node(None))
    assert alone is not None
    assert "nvidia.com/gpu.replicas" not in alone["metadata"]["labels"]
    assert relabelled(alone, cut_node(None)) is None


def test_labels_that_a_node_had_before_are_kept() -> None:
    node = {"metadata": {"name": "n1", "labels": {"nvidia.com/gpu.replicas": "1"}}}

    right = relabelled(node, TOPOLOGY)

    assert right is not None
    assert right["metadata"]["labels"]["nvidia.com/gpu.replicas"] == "1"

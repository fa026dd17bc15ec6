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

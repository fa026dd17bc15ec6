"""The labels by which a node says what GPUs it has.

Source: fake-gpu-operator 0.2, status-exporter.
"""

from __future__ import annotations

from windtunnel.devices import GPU, NodeTopology, label_value
from windtunnel.machinery.tree import Tree


def wanted_labels(topology: NodeTopology) -> dict[str, str]:
    """Return what the labels of a node are to say."""
    return {
        f"{GPU}.memory": str(topology.gpu_memory),
        f"{GPU}.product": label_value(topology.gpu_product),
        f"{GPU}.count": str(len(topology.gpus)),
        f"{GPU}.present": "true",
        "nvidia.com/mig.strategy": topology.mig_strategy,
        "run.ai/fake.gpu": "true",
    }


def relabelled(node: Tree, topology: NodeTopology) -> Tree | None:
    """Return the node with its labels put right, or None where they are."""
    wanted = wanted_labels(topology)
    labels = node["metadata"].get("labels") or {}
    if wanted.items() <= labels.items():
        return None
    return {**node, "metadata": {**node["metadata"], "labels": labels | wanted}}

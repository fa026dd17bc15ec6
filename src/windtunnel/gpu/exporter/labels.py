"""The labels by which a node says what GPUs it has.

Source: fake-gpu-operator 0.2, status-exporter; where GPUs are cut or shared, GPU feature discovery.
"""

from __future__ import annotations

from typing import Final

from windtunnel.devices import GPU, NodeTopology, discovered, is_discovered, label_value
from windtunnel.machinery.tree import Tree

_FAKE: Final = "run.ai/fake.gpu"


def wanted_labels(topology: NodeTopology) -> dict[str, str]:
    """Return what the labels of a node are to say."""
    product = label_value(topology.gpu_product)
    return {
        f"{GPU}.memory": str(topology.gpu_memory),
        f"{GPU}.product": product,
        f"{GPU}.count": str(len(topology.gpus)),
        f"{GPU}.present": "true",
        "nvidia.com/mig.strategy": topology.mig_strategy,
        _FAKE: "true",
    } | discovered(topology, product)


def relabelled(node: Tree, topology: NodeTopology) -> Tree | None:
    """Return the node with its labels put right, or None where they are."""
    wanted = wanted_labels(topology)
    labels = node["metadata"].get("labels") or {}
    # A node that is labelled for the first time may have others from elsewhere.
    stale = {
        name for name in labels if is_discovered(name) and name not in wanted and _FAKE in labels
    }
    if not stale and wanted.items() <= labels.items():
        return None
    kept = {name: value for name, value in labels.items() if name not in stale}
    return {**node, "metadata": {**node["metadata"], "labels": kept | wanted}}

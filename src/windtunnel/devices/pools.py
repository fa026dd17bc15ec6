"""A pool of GPU nodes in the older form, and the ConfigMap of a pool that a command adds.

Pools that commands add live in a ConfigMap of their own, ``topology-pool-<pool>``, because helm
owns ``topology``; they are read like it (``cluster_topology``). Who makes nodes of one is
``nodes.orders``, who writes their capacity ``gpu.kwok_device_plugin``.

Source: fake-gpu-operator 0.2, the legacy form of ``topology.yml``.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
import yaml

from windtunnel.devices.catalogue import GPU, find_model, product_label
from windtunnel.machinery.tree import Tree, dig

POOL_LABEL: Final = "run.ai/simulated-gpu-node-pool"
"""The node label that names a node's pool."""
PLAYED: Final = "kwok.x-k8s.io/node"
"""The node annotation by which kwok knows the nodes it plays: ``fake``."""
POOL_NAMESPACE: Final = "gpu-operator"
_PREFIX: Final = "topology-pool-"
TOPOLOGY_NAME: Final = "topology"
"""The ConfigMap of the cluster's pools, which those of nodes are named after."""
TOPOLOGY_KEY: Final = "topology.yml"


class OtherDevice(msgspec.Struct, frozen=True, rename="camel"):
    """Another extended resource that every node of a pool has."""

    name: str
    count: int


class GpuPool(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What each node of one pool carries."""

    gpu_product: str = ""
    gpu_count: int = 0
    gpu_memory: int = 0
    """MiB of one GPU."""
    other_devices: tuple[OtherDevice, ...] = ()

    def capacity(self) -> dict[str, str]:
        """Return the extended resources of one node, as a node's status writes them."""
        return {
            GPU: str(self.gpu_count),
            **{device.name: str(device.count) for device in self.other_devices},
        }

    def labels(self) -> dict[str, str]:
        """Return the labels that GPU feature discovery 0.20 gives to a node with these GPUs."""
        if self.gpu_count <= 0:
            return {}
        labels = {
            f"{GPU}.present": "true",
            f"{GPU}.count": str(self.gpu_count),
            f"{GPU}.product": product_label(self.gpu_product),
            f"{GPU}.memory": str(self.gpu_memory),
        }
        model = find_model(self.gpu_product)
        if model is not None:
            major, _, minor = model.compute.partition(".")
            labels |= {
                f"{GPU}.family": model.family,
                f"{GPU}.compute.major": major,
                f"{GPU}.compute.minor": minor,
                "nvidia.com/mig.capable": "true" if model.mig else "false",
            }
        return labels


def pool_of(node: Tree) -> str:
    """Return the name of the pool a node belongs to, or ""."""
    return str(dig(node, "metadata", "labels", POOL_LABEL) or "")


def config_map_name(pool: str) -> str:
    """Return the name of the ConfigMap that describes ``pool``."""
    return _PREFIX + pool


def is_pool_config_map(namespace: str, name: str) -> bool:
    """Say whether a ConfigMap of this name describes a pool that commands added."""
    return namespace == POOL_NAMESPACE and name.startswith(_PREFIX)


def pool_document(name: str, pool: GpuPool) -> Tree:
    """Return the ConfigMap that describes one pool."""
    document: Any = {
        "nodePools": {name: msgspec.to_builtins(pool)},
        "nodePoolLabelKey": POOL_LABEL,
    }
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": config_map_name(name),
            "namespace": POOL_NAMESPACE,
            "labels": {"app.kubernetes.io/managed-by": "windtunnel"},
        },
        "data": {TOPOLOGY_KEY: yaml.safe_dump(document, sort_keys=False)},
    }

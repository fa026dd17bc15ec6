"""A cluster in virtual time with a document of pools, for tests of the operator's parts."""

from __future__ import annotations

from typing import Any

from tests.world import World

from windtunnel.devices import AllocatedBy, NodeTopology, parse_node_topology
from windtunnel.gpu.status_updater import Settings, StatusUpdater
from windtunnel.machinery.tree import Key, Tree

NAMESPACE = "gpu-operator"
POOL = "run.ai/simulated-gpu-node-pool"


def document(compat: str = "", **pools: str) -> dict[str, str]:
    """The data of ConfigMap ``topology``; pools are written in flow style."""
    lines = "".join(f"  {name}: {{{pool}}}\n" for name, pool in pools.items())
    text = f"nodePools:\n{lines}nodePoolLabelKey: {POOL}\nmigStrategy: mixed\n"
    return {"topology.yml": text + (f"compat: '{compat}'\n" if compat else "")}


K80 = "gpuProduct: Tesla-K80, gpuCount: 2, gpuMemory: 11441"


class Operated(World):
    """The world with an operator in it."""

    def __init__(self, compat: str = "", **pools: str) -> None:
        super().__init__()
        for namespace in (NAMESPACE, "ml", "runai-reservation"):
            self.create("namespaces", namespace, "")
        data = document(compat, **(pools or {"default": K80}))
        self.create("configmaps", "topology", NAMESPACE, data=data)
        self.run(0.1)
        self.updater = self.begin()

    def begin(self, **settings: Any) -> StatusUpdater:
        """Start a status updater, as a process that has just come up."""
        self.updater = StatusUpdater(
            self.virtual.client("status-updater"), self.loop, Settings(**settings)
        )
        self.updater.start()
        self.run(0.2)
        return self.updater

    def again(self) -> None:
        """Restart the status updater."""
        self.updater.stop()
        self.begin()

    def write(self, compat: str = "", **pools: str) -> None:
        """Replace the document of pools."""
        key = Key(NAMESPACE, "topology")
        self.client.patch("configmaps", key, {"data": document(compat, **pools)})
        self.run(0.2)

    def gpu_node(self, name: str, pool: str = "default", *, played: bool = True) -> None:
        notes = {"kwok.x-k8s.io/node": "fake"} if played else {}
        self.create("nodes", name, "", metadata={"annotations": notes, "labels": {POOL: pool}})
        self.run(0.2)

    def gpu_pod(self, name: str, node: str, gpus: int = 1, namespace: str = "ml") -> None:
        limits = {"nvidia.com/gpu": str(gpus)}
        spec = {
            "nodeName": node,
            "containers": [
                {"name": "main", "image": "x", "resources": {"limits": limits, "requests": limits}}
            ],
        }
        self.create("pods", name, namespace, spec=spec)
        self.run(0.2)

    def config_map(self, node: str) -> Tree | None:
        return self.client.get("configmaps", Key(NAMESPACE, f"topology-{node}"))

    def topology(self, node: str) -> NodeTopology:
        tree = self.config_map(node)
        assert tree is not None, f"node {node} has no document"
        return parse_node_topology(tree["data"]["topology.yml"])

    def owners(self, node: str) -> list[str]:
        return [_name(gpu.status.allocated_by) for gpu in self.topology(node).gpus]

    def labels(self, node: str) -> set[str]:
        labels = self.get("nodes", node, "")["metadata"].get("labels", {})
        return {key.removeprefix("nvidia.com/gpu.deploy.") for key in labels if "deploy" in key}

    def told(self) -> list[tuple[str, str]]:
        events = self.client.list("events")
        return [
            (event["reason"], event["message"])
            for event in events
            if event["source"].get("component") in ("status-updater", "mock-backend")
        ]


def _name(owner: AllocatedBy) -> str:
    return f"{owner.namespace}/{owner.pod}" if owner.pod else ""

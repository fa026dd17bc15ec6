"""Builders of nodes, pods and fleets: say what matters, the rest is plain."""

from __future__ import annotations

from typing import Any

from windtunnel.fleet import Fleet, NodeFacts, PodReader, PodView, read_node
from windtunnel.machinery.change import Change, ChangeType
from windtunnel.machinery.tree import Tree, encode, key_of
from windtunnel.placement.search import Cycle, Nominations
from windtunnel.scheduler import Profile, read_configuration

GPU = "nvidia.com/gpu"
READER = PodReader()


def node_tree(name: str = "a", *, labels: dict[str, str] | None = None, **kept: Any) -> Tree:
    """A node of 8 GPUs, 96 cpu and 768 GiB; ``kept``: taints, allocatable, images, features …."""
    allocatable = {"cpu": "96", "memory": "768Gi", GPU: "8", "pods": "110"}
    allocatable |= kept.get("allocatable", {})
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name} | (labels or {})},
        "spec": {
            "unschedulable": kept.get("unschedulable", False),
            "taints": kept.get("taints", []),
        },
        "status": {
            "allocatable": allocatable,
            "images": kept.get("images", []),
            "declaredFeatures": kept.get("features", []),
        },
    }


def node(name: str = "a", **kept: Any) -> NodeFacts:
    return read_node(encode(node_tree(name, **kept)))


def pod_tree(
    name: str = "p",
    *,
    namespace: str = "default",
    labels: dict[str, str] | None = None,
    node: str = "",
    priority: int = 0,
    requests: dict[str, str] | None = None,
    metadata: Tree | None = None,
    status: Tree | None = None,
    **spec: Any,
) -> Tree:
    """A pod of one container; what is left over goes into its spec, in the API's spelling."""
    container: Tree = {"name": "main", "resources": {"requests": requests or {}}}
    body: Tree = {"containers": [container], "priority": priority, **spec}
    if node:
        body["nodeName"] = node
    names = {"name": name, "namespace": namespace, "uid": f"uid-{name}", "labels": labels or {}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": names | (metadata or {}),
        "spec": body,
        "status": status or {},
    }


def pod(name: str = "p", **kept: Any) -> PodView:
    return READER.read(encode(pod_tree(name, **kept)))


def gpus(count: int) -> dict[str, str]:
    """Requests for that many GPUs."""
    return {GPU: str(count)}


def fleet(*nodes: NodeFacts, pods: tuple[PodView, ...] = ()) -> Fleet:
    """A fleet of nodes, with pods on the nodes they name."""
    made = Fleet()
    for each in nodes:
        made.put_node(each)
    for one in pods:
        made.place(one, one.node)
    return made


def profile(**configuration: Any) -> Profile:
    """The first profile of a configuration."""
    return read_configuration(configuration).profiles[0]


def cycle(made: Fleet, **configuration: Any) -> Cycle:
    """A cycle by the rules of a configuration's first profile."""
    return Cycle(made, profile(**configuration).rules, Nominations())


def change(kind: ChangeType, tree: Tree, revision: int = 1) -> Change:
    """A change as a watch delivers it."""
    return Change(kind, key_of(tree), revision, encode(tree))

"""The GPU account of a cluster: what there is, what is spoken for, what is free.

A pure function of nodes and pods, so that the command line, a report and a test print the same
numbers. Spoken for is what pods with a node ask for while they are Pending or Running, in every
namespace: a pod that still waits for a node holds nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from windtunnel.devices.catalogue import GPU
from windtunnel.kinds.pod.requests import container_amounts
from windtunnel.machinery import quantity
from windtunnel.machinery.tree import Tree, dig

_HOLDING: Final = frozenset({"Pending", "Running"})


@dataclass(frozen=True, slots=True)
class NodeAccount:
    """One node's line."""

    name: str
    product: str
    capacity: int
    allocatable: int
    placed: int

    @property
    def free(self) -> int:
        """What is left; negative when more is placed than the node offers."""
        return self.allocatable - self.placed


@dataclass(frozen=True, slots=True)
class Ledger:
    """The whole account, nodes in name order; nodes without the resource are left out."""

    resource: str
    nodes: tuple[NodeAccount, ...]
    requested: int

    @property
    def allocatable_total(self) -> int:
        """What all nodes offer together."""
        return sum(node.allocatable for node in self.nodes)

    @property
    def free(self) -> int:
        """What is not spoken for."""
        return self.allocatable_total - self.requested

    def to_tree(self) -> Tree:
        """Return the account as it is printed in JSON and YAML."""
        return {
            "nodes": {node.name: node.allocatable for node in self.nodes},
            "allocatable_total": self.allocatable_total,
            "requested": self.requested,
            "free": self.free,
        }


def limit_of(pod: Tree, resource: str = GPU) -> int:
    """Return how much of an extended resource a pod holds: what its limits come to."""
    found = container_amounts(pod.get("spec") or {}, "limits").get(resource)
    return 0 if found is None else found.units


def take_ledger(
    nodes: Iterable[Tree], pods: Iterable[Tree], resource: str = GPU, namespace: str = ""
) -> Ledger:
    """Add up one resource.

    Args:
        nodes: All nodes.
        pods: All pods; those that hold nothing are skipped.
        resource: The extended resource to account for.
        namespace: Count only the pods of this namespace; "" for all.
    """
    placed: dict[str, int] = {}
    for pod in pods:
        node = dig(pod, "spec", "nodeName")
        if not node or (dig(pod, "status", "phase") or "Pending") not in _HOLDING:
            continue
        if namespace and dig(pod, "metadata", "namespace") != namespace:
            continue
        amount = limit_of(pod, resource)
        if amount:
            placed[node] = placed.get(node, 0) + amount
    lines = [
        NodeAccount(
            name=name,
            product=str(dig(node, "metadata", "labels", f"{GPU}.product") or ""),
            capacity=_amount(dig(node, "status", "capacity", resource)),
            allocatable=_amount(dig(node, "status", "allocatable", resource)),
            placed=placed.get(name, 0),
        )
        for node in nodes
        if (name := node["metadata"]["name"]) in placed
        or dig(node, "status", "allocatable", resource) is not None
    ]
    lines.sort(key=lambda line: line.name)
    return Ledger(resource, tuple(lines), sum(placed.values()))


def _amount(value: Any) -> int:
    return 0 if value is None else quantity.to_int(value)

"""What a played node says that it has, what it should have, and what it lacks of that."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from windtunnel.gpu.marks import Marks
from windtunnel.machinery.tree import Tree


class _Status(msgspec.Struct):
    capacity: dict[str, str] = {}
    allocatable: dict[str, str] = {}


class EquippedNode(msgspec.Struct):
    """A node with what it says that it has."""

    metadata: Marks = msgspec.field(default_factory=Marks)
    status: _Status = msgspec.field(default_factory=_Status)


@dataclass(frozen=True, slots=True)
class GpuAmounts:
    """What a document comes to; a faulty GPU counts as there, but cannot be given."""

    capacity: dict[str, str]
    allocatable: dict[str, str]


def lacking(node: EquippedNode, due: GpuAmounts, gone: set[str]) -> Tree:
    """Return what must be written into a node's status; None takes a resource away."""
    have, free = node.status.capacity, node.status.allocatable
    wrong = [
        name
        for name, amount in due.capacity.items()
        if have.get(name) != amount or free.get(name) != due.allocatable[name]
    ]
    away = {name: None for name in sorted(gone) if name in have or name in free}
    if not wrong and not away:
        return {}
    return {
        "capacity": {name: due.capacity[name] for name in wrong} | away,
        "allocatable": {name: due.allocatable[name] for name in wrong} | away,
    }

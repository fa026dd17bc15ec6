"""Which GPUs a node is to have: what its pool is made of, against what its document says.

A document that somebody edits stays as it is edited until its pool changes. One found at the start
is brought in line with its pool, unless its GPUs have ids of their own: then somebody else made it.
"""

from __future__ import annotations

from windtunnel.devices import NodeTopology, gpu_id
from windtunnel.gpu.pools import Hardware
from windtunnel.gpu.status_updater.lots import holders


def wanted(
    node: str,
    hardware: Hardware | None,
    known: Hardware | None,
    current: NodeTopology | None,
    *,
    made_only: bool = False,
) -> NodeTopology | None:
    """Return which GPUs a node is to have; None where nobody can say.

    Args:
        node: Its name.
        hardware: What nodes of its pool are made of; None where that cannot be said.
        known: What its document was last brought in line with, if it ever was.
        current: What its document says; None where it has none that can be read.
        made_only: Whether a document stays as it was made, whatever becomes of its pool.
    """
    if current is None:
        return None if hardware is None else hardware.fitted(node, None)
    stays = known == hardware if known is not None else not _made_by_us(current, node)
    if hardware is None or stays or made_only:
        return current
    return hardware.fitted(node, current)


def loss(node: str, before: NodeTopology, after: NodeTopology) -> str:
    """Return in words who loses a GPU or a slice that is gone; "" where nobody does."""
    left = {name for name, _ in holders(after)}
    lost = [(name, owner) for name, owner in holders(before) if name not in left]
    if not lost:
        return ""
    pods = ", ".join(f"{name} of pod {owner.namespace}/{owner.pod}" for name, owner in lost)
    return f"node {node} has {len(after.gpus)} GPUs now; gone is {pods}"


def _made_by_us(topology: NodeTopology, node: str) -> bool:
    """Say whether a document's GPUs are those that we give to the node."""
    return all(gpu.id == gpu_id(node, index) for index, gpu in enumerate(topology.gpus))

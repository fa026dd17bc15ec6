"""Which nodes to visit: each as it changes, and all when something changes for all of them."""

from __future__ import annotations

from collections.abc import Callable

from windtunnel.client.cache import Cache
from windtunnel.controllers.node.views import NodeView
from windtunnel.kernel import WorkQueue
from windtunnel.machinery.tree import Key

ConcernsAll = Callable[[NodeView | None, NodeView | None], bool]
"""Takes a node before and after a change; whether that changes something for all nodes."""


def visit_nodes(
    nodes: Cache[NodeView], queue: WorkQueue[Key], concerns_all: ConcernsAll | None = None
) -> None:
    """Queue nodes as they change, and all of them after a change that concerns all."""

    def changed(key: Key, before: NodeView | None, after: NodeView | None) -> None:
        if after is not None:
            queue.add(key)
        if concerns_all is not None and concerns_all(before, after):
            for other, _ in nodes.entries():
                queue.add(other)

    nodes.on_change(changed)

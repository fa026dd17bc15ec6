"""Who runs pods, and how pools of nodes are ordered.

What is exported costs a command line nothing. ``nodes.played`` plays nodes and pods by stages,
``nodes.kubelet`` is a node that runs them, ``nodes.orders`` puts an order into a cluster.
"""

from windtunnel.nodes.pools import (
    DEFAULT_PRODUCT,
    PoolOrder,
    check,
    parse_label,
    parse_order,
    parse_taint,
)

__all__ = [
    "DEFAULT_PRODUCT",
    "PoolOrder",
    "check",
    "parse_label",
    "parse_order",
    "parse_taint",
]

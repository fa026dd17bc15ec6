"""Clears away what a cluster has left on the machine that died without a farewell."""

from __future__ import annotations

from pathlib import Path


def clear_node(folder: Path) -> None:
    """Remove what a killed node left outside of its own files: roots, control groups, sockets.

    Args:
        folder: The node's folder in its cluster's; nothing runs there any more.
    """
    if not folder.exists():
        return
    from windtunnel.assembly.node_sockets import NodeSockets
    from windtunnel.nodes.kubelet.runtime.engine import clear_away

    clear_away(folder / "containers")
    NodeSockets(folder / "root").leave()

"""Clears away what a cluster has left on the machine that died without a farewell."""

from __future__ import annotations

from pathlib import Path


def clear_node(folder: Path) -> None:
    """Remove what a killed node left beside its own files: roots, groups, memory, sockets.

    Args:
        folder: The node's folder in its cluster's; nothing runs there any more.
    """
    if not folder.exists():
        return
    from windtunnel.assembly.node_sockets import NodeSockets
    from windtunnel.nodes.kubelet.runtime.engine import clear_away
    from windtunnel.nodes.kubelet.settings import Settings
    from windtunnel.nodes.kubelet.volumes.volumes import clear_memory

    root = folder / "root"
    clear_away(folder / "containers")
    clear_memory(Settings(root=root).kubelet_root)
    NodeSockets(root).leave()

"""What a killed node leaves on the machine."""

from __future__ import annotations

from pathlib import Path

from windtunnel.assembly.leavings import clear_node
from windtunnel.assembly.node_sockets import NodeSockets, short_folder


def test_roots_and_sockets_of_a_killed_node_go(tmp_path: Path) -> None:
    node = tmp_path / "node"
    (node / "root").mkdir(parents=True)
    (node / "containers" / "c1" / "root").mkdir(parents=True)
    NodeSockets(node / "root").plugins.mkdir()

    clear_node(node)

    assert sorted(each.name for each in node.iterdir()) == ["root"]
    assert not short_folder(node / "root").exists()


def test_a_cluster_without_a_node_has_nothing_to_clear(tmp_path: Path) -> None:
    clear_node(tmp_path / "none")

    assert list(tmp_path.iterdir()) == []

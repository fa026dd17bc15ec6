"""Where a node's sockets lie, and what stays when they go."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from windtunnel.assembly.node_sockets import NodeSockets, short_folder

RECORD = "kubelet_internal_checkpoint"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / ("long" * 30) / "node" / "root"
    root.mkdir(parents=True)
    return root


def test_sockets_lie_where_paths_are_short(root: Path) -> None:
    sockets = NodeSockets(root)
    sockets.plugins.mkdir()

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(sockets.plugins / ("s" * 40)))

    sockets.leave()
    assert not short_folder(root).exists()


def test_every_node_has_a_folder_of_its_own(root: Path, tmp_path: Path) -> None:
    assert short_folder(root) == short_folder(root)
    assert short_folder(root) != short_folder(tmp_path)


def test_the_record_of_devices_comes_back_with_the_node(root: Path, tmp_path: Path) -> None:
    first = NodeSockets(root, tmp_path)
    first.plugins.mkdir()
    (first.plugins / RECORD).write_text("who has what")
    first.leave()

    assert (NodeSockets(root, tmp_path).plugins / RECORD).read_text() == "who has what"


def test_a_killed_node_finds_its_record_where_it_was(root: Path, tmp_path: Path) -> None:
    NodeSockets(root, tmp_path).plugins.mkdir()
    record = NodeSockets(root, tmp_path).plugins / RECORD
    record.write_text("newer")

    assert (NodeSockets(root, tmp_path).plugins / RECORD).read_text() == "newer"


def test_a_new_node_knows_nothing_of_an_earlier_one(root: Path, tmp_path: Path) -> None:
    sockets = NodeSockets(root, tmp_path)
    sockets.plugins.mkdir()
    (sockets.plugins / RECORD).write_text("who had what")
    root.rmdir()

    assert not (NodeSockets(root, tmp_path).plugins / RECORD).exists()


def test_sockets_lie_beside_the_root_where_no_short_folder_can_be_made(root: Path) -> None:
    nowhere = root / "file"
    nowhere.write_text("")

    sockets = NodeSockets(root, nowhere)

    assert sockets.plugins == root.parent / "sockets" / "p"
    assert sockets.plugins.parent.is_dir()

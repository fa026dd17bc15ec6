"""What a killed node leaves on the machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.nodes.kubelet.bench import NoSources

from windtunnel.assembly.leavings import clear_node
from windtunnel.assembly.node_sockets import NodeSockets, short_folder
from windtunnel.kernel import VirtualClock
from windtunnel.nodes.kubelet.settings import Settings
from windtunnel.nodes.kubelet.volumes.places import HostPlaces
from windtunnel.nodes.kubelet.volumes.volumes import SHARED_MEMORY, PodVolumes


def test_roots_and_sockets_of_a_killed_node_go(tmp_path: Path) -> None:
    node = tmp_path / "node"
    (node / "root").mkdir(parents=True)
    (node / "containers" / "c1" / "root").mkdir(parents=True)
    NodeSockets(node / "root").plugins.mkdir()

    clear_node(node)

    assert sorted(each.name for each in node.iterdir()) == ["root"]
    assert not short_folder(node / "root").exists()


@pytest.mark.skipif(not SHARED_MEMORY.is_dir(), reason="this machine shares no memory as a folder")
def test_volumes_in_memory_of_a_killed_node_go(tmp_path: Path) -> None:
    root = tmp_path / "node" / "root"
    root.mkdir(parents=True)
    settings = Settings(root=root)
    volumes = PodVolumes(settings.kubelet_root, NoSources(), HostPlaces(root), VirtualClock(0.0))
    container = {"name": "c", "volumeMounts": [{"name": "m", "mountPath": "/m"}]}
    scratch = {"name": "m", "emptyDir": {"medium": "Memory"}}
    pod = {"metadata": {"uid": "u"}, "spec": {"volumes": [scratch], "containers": [container]}}
    volumes.mount(pod)
    (mount,) = volumes.mounts(pod, container)
    assert Path(mount.host_path).is_relative_to(SHARED_MEMORY)

    clear_node(root.parent)

    assert not Path(mount.host_path).parents[1].exists()


def test_a_cluster_without_a_node_has_nothing_to_clear(tmp_path: Path) -> None:
    clear_node(tmp_path / "none")

    assert list(tmp_path.iterdir()) == []

"""The part in virtual time; gRPC and registering are real, so tests wait for them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.gpu.device_plugin.kubelet import Kubelet, plugin_at
from tests.world import World

from windtunnel.devices import (
    NodeTopology,
    OtherDevice,
    TopologyGpu,
    gpu_id,
    node_topology_text,
)
from windtunnel.gpu.device_plugin import DevicePlugin
from windtunnel.gpu.device_plugin.plugin import NoKubelet, NoTopology
from windtunnel.gpu.device_plugin.settings import Settings
from windtunnel.machinery.tree import Key
from windtunnel.wire import deviceplugin_pb2 as wire

DOCUMENT = Key("gpu-operator", "topology-n1")
TWO = NodeTopology(gpus=(TopologyGpu(id=gpu_id("n1", 0)), TopologyGpu(id=gpu_id("n1", 1))))
WITH_MIG = NodeTopology(gpus=TWO.gpus, other_devices=(OtherDevice("nvidia.com/mig-1g.5gb", 2),))
PATIENCE = 200
"""How many half seconds of virtual time may pass while gRPC does its part."""


class Bench:
    """A world with one plugin and, if wanted, one kubelet."""

    def __init__(self, world: World, host: Path) -> None:
        self.world, self.host = world, host
        self.folder = host / "var/lib/kubelet/device-plugins"
        self.kubelet: Kubelet | None = None
        world.create("namespaces", "gpu-operator", "")
        self.plugin = self.another()

    def another(self, **settings: Any) -> DevicePlugin:
        told = Settings(node="n1", namespace="gpu-operator", root=self.host, **settings)
        return DevicePlugin(self.world.virtual.client("device-plugin"), self.world.loop, told)

    def write(self, topology: NodeTopology) -> None:
        self.write_text("topology-n1", node_topology_text(topology))

    def write_text(self, name: str, text: str) -> None:
        client, key = self.world.client, Key("gpu-operator", name)
        if client.get("configmaps", key) is None:
            self.world.create("configmaps", name, "gpu-operator", data={"topology.yml": text})
        else:
            client.patch("configmaps", key, {"data": {"topology.yml": text}})

    def kubelet_starts(self) -> Kubelet:
        """A kubelet comes, and removes the sockets of plugins, as each does."""
        if self.kubelet is not None:
            self.kubelet.stop()
        for socket in self.folder.iterdir():
            socket.unlink()
        self.kubelet = Kubelet(self.folder)
        return self.kubelet

    def registered(self) -> str:
        assert self.kubelet is not None
        for _ in range(PATIENCE):
            self.world.run(0.5)
            try:
                return self.kubelet.seen.get(timeout=0.05).resource_name
            except queue.Empty:
                continue
        raise AssertionError("nothing was registered")


@pytest.fixture
def bench(world: World, host: Path) -> Iterator[Bench]:
    made = Bench(world, host)
    yield made
    made.plugin.stop()
    if made.kubelet is not None:
        made.kubelet.stop()


def test_document_and_kubelet_may_come_later_in_any_order(bench: Bench) -> None:
    bench.plugin.start()
    bench.world.run(60)
    assert list(bench.folder.iterdir()) == []

    bench.write(TWO)
    bench.kubelet_starts()

    assert bench.registered() == "nvidia.com/gpu"
    with plugin_at(bench.folder / "fake-nvidia-gpu.sock") as plugin:
        stream = plugin.ListAndWatch(wire.Empty(), timeout=10)
        assert [device.ID for device in next(stream).devices] == [gpu.id for gpu in TWO.gpus]


def test_a_changed_document_reaches_a_watching_kubelet(bench: Bench) -> None:
    bench.write(TWO)
    bench.kubelet_starts()
    bench.plugin.start()
    assert bench.registered() == "nvidia.com/gpu"

    with plugin_at(bench.folder / "fake-nvidia-gpu.sock") as plugin:
        stream = plugin.ListAndWatch(wire.Empty(), timeout=10)
        next(stream)
        bench.write(NodeTopology(gpus=TWO.gpus[:1]))
        bench.world.run(3)
        assert len(next(stream).devices) == 1

        bench.write_text("topology-n1", "gpus: [")
        bench.world.run(10)
        bench.write(TWO)
        bench.world.run(3)
        assert len(next(stream).devices) == 2


def test_resources_come_and_go_with_the_document(bench: Bench) -> None:
    bench.write(TWO)
    kubelet = bench.kubelet_starts()
    bench.plugin.start()
    bench.registered()
    bench.write(WITH_MIG)

    assert bench.registered() == "nvidia.com/mig-1g.5gb"
    assert kubelet.seen.empty()
    assert (bench.folder / "nvidia_com_mig_1g_5gb.sock").is_socket()

    bench.write(TWO)
    bench.world.run(3)
    assert not (bench.folder / "nvidia_com_mig_1g_5gb.sock").exists()


def test_a_kubelet_that_starts_anew_is_told_again(bench: Bench) -> None:
    bench.write(WITH_MIG)
    bench.kubelet_starts()
    bench.plugin.start()
    first = {bench.registered(), bench.registered()}
    bench.world.run(10)

    kubelet = bench.kubelet_starts()

    assert {bench.registered(), bench.registered()} == first
    bench.world.run(10)
    assert kubelet.seen.empty()


def test_a_socket_that_somebody_removed_comes_back(bench: Bench) -> None:
    bench.write(TWO)
    bench.kubelet_starts()
    bench.plugin.start()
    bench.registered()
    (bench.folder / "fake-nvidia-gpu.sock").unlink()

    assert bench.registered() == "nvidia.com/gpu"
    assert (bench.folder / "fake-nvidia-gpu.sock").is_socket()


def test_without_a_socket_it_says_so_and_waits(bench: Bench) -> None:
    bench.write(TWO)
    bench.folder.joinpath("kubelet.sock").write_text("no socket")
    (bench.folder / "fake-nvidia-gpu.sock").mkdir()
    bench.plugin.start()
    bench.world.run(5)

    ((part, what, error),) = [f for f in bench.world.failures if f[0] == "device-plugin"]
    assert (part, what) == ("device-plugin", "sockets")
    assert "cannot listen at" in str(error)


def test_a_node_without_kubelet_gets_its_status_once(bench: Bench) -> None:
    bench.world.node("n1")
    bench.write(WITH_MIG)
    before = bench.world.get("nodes", "n1", "")["status"]["nodeInfo"]
    bench.another(fake_node=True).start()

    status = bench.world.get("nodes", "n1", "")["status"]
    assert status["capacity"]["nvidia.com/gpu"] == "2"
    assert status["allocatable"]["nvidia.com/mig-1g.5gb"] == "2"
    assert status["nodeInfo"] == before


def test_a_node_without_kubelet_must_have_a_document(bench: Bench) -> None:
    with pytest.raises(NoTopology, match='configmaps "topology-n1" not found') as caught:
        bench.another(fake_node=True).start()
    assert caught.value.exit_code == 1


def test_as_the_original_it_ends_without_a_document(bench: Bench) -> None:
    bench.write_text("topology", 'nodePools: {}\ncompat: "0.2"\n')

    with pytest.raises(NoTopology):
        bench.plugin.start()


def test_as_the_original_it_draws_ids_and_reads_once(bench: Bench) -> None:
    bench.write_text("topology", 'nodePools: {}\ncompat: "0.2"\n')
    bench.write(TWO)
    bench.kubelet_starts()
    bench.plugin.start()
    bench.registered()

    with plugin_at(bench.folder / "fake-nvidia-gpu.sock") as plugin:
        answer = next(plugin.ListAndWatch(wire.Empty(), timeout=5))
        drawn = [device.ID for device in answer.devices]
        bench.write(NodeTopology())
        bench.world.run(10)
        assert len(next(plugin.ListAndWatch(wire.Empty(), timeout=5)).devices) == 2
    assert not any(one.startswith("GPU-") for one in drawn)


SAID = {
    "by default": ("", {}),
    "as the original": ('compat: "0.2"\n', {"WINDTUNNEL_COMPAT": "0.2"}),
}


@pytest.mark.parametrize(("pools", "more"), SAID.values(), ids=SAID)
def test_containers_are_told_whether_to_be_as_the_original(
    bench: Bench, pools: str, more: dict[str, str]
) -> None:
    bench.plugin = bench.another(topology_url="http://x")
    bench.write_text("topology", f"nodePools: {{}}\n{pools}")
    bench.write(TWO)
    bench.kubelet_starts()
    bench.plugin.start()
    bench.registered()

    with plugin_at(bench.folder / "fake-nvidia-gpu.sock") as plugin:
        one = wire.ContainerAllocateRequest(devices_ids=["a"])
        answer = plugin.Allocate(wire.AllocateRequest(container_requests=[one]), timeout=5)

    assert dict(answer.container_responses[0].envs) == {
        "MOCK_NVIDIA_VISIBLE_DEVICES": "a",
        "NODE_NAME": "n1",
        "TOPOLOGY_SERVER_URL": "http://x",
        **more,
    }


def test_as_the_original_it_ends_without_a_kubelet(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windtunnel.gpu.device_plugin.resource_plugin.REGISTER_SECONDS", 0.05)
    bench.write_text("topology", 'nodePools: {}\ncompat: "0.2"\n')
    bench.write(TWO)
    bench.plugin.start()

    def live() -> None:
        for _ in range(PATIENCE):
            bench.world.run(0.5)
            for thread in threading.enumerate():
                if thread.name == "register":
                    thread.join()

    with pytest.raises(NoKubelet, match="cannot register with the kubelet") as caught:
        live()
    assert caught.value.exit_code == 2

"""Tests of the device plugin of played nodes."""

from __future__ import annotations

import pytest
from tests.gpu.operated import K80, NAMESPACE, Operated

from windtunnel.errors import DataError
from windtunnel.gpu.kwok_device_plugin import KwokDevicePlugin, Settings
from windtunnel.machinery.tree import Key, Tree

MORE = "otherDevices: [{name: example.com/nic, count: 2}]"


def operated(pool: str = K80) -> tuple[Operated, KwokDevicePlugin]:
    world = Operated(default=pool)
    plugin = KwokDevicePlugin(world.virtual.client("kwok-gpu-device-plugin"), world.loop)
    plugin.start()
    return world, plugin


def amounts(world: Operated, name: str = "n") -> Tree:
    status: Tree = world.get("nodes", name, "")["status"]
    assert status["capacity"] == status["allocatable"]
    return {key: value for key, value in status["capacity"].items() if "." in key}


def test_a_played_node_gets_what_its_document_says() -> None:
    world, _ = operated(f"{K80}, {MORE}")
    world.gpu_node("n")
    world.gpu_node("real", played=False)

    assert amounts(world) == {"nvidia.com/gpu": "2", "example.com/nic": "2"}
    assert "nvidia.com/gpu" not in world.get("nodes", "real", "").get("status", {}).get(
        "capacity", {}
    )


def test_a_document_that_changes_is_followed_and_what_it_names_no_more_goes() -> None:
    world, _ = operated(f"{K80}, {MORE}")
    world.gpu_node("n")

    world.write(default="gpuCount: 4")
    world.run(0.5)

    assert amounts(world) == {"nvidia.com/gpu": "4"}


def test_what_somebody_writes_over_it_stays_until_it_is_restarted() -> None:
    world, plugin = operated()
    world.gpu_node("n")
    status = {"capacity": {"nvidia.com/gpu": "9"}, "allocatable": {"nvidia.com/gpu": "9"}}
    world.client.patch("nodes", Key("", "n"), {"status": status}, subresource="status")
    world.run(1)
    assert amounts(world) == {"nvidia.com/gpu": "9"}

    plugin.stop()
    again = KwokDevicePlugin(world.virtual.client("kwok-gpu-device-plugin"), world.loop)
    again.start()
    world.run(0.5)

    assert amounts(world) == {"nvidia.com/gpu": "2"}


def test_a_node_keeps_what_it_has_when_its_document_goes() -> None:
    world, _ = operated()
    world.gpu_node("n")
    world.updater.stop()

    world.client.delete("configmaps", Key(NAMESPACE, "topology-n"))
    world.run(0.5)

    assert amounts(world) == {"nvidia.com/gpu": "2"}


def test_nothing_else_of_the_status_is_touched() -> None:
    world, _ = operated()
    world.gpu_node("n")

    (written,) = [
        entry
        for entry in world.get("nodes", "n", "")["metadata"]["managedFields"]
        if entry["manager"] == "kwok-gpu-device-plugin"
    ]
    assert set(written["fieldsV1"]["f:status"]) == {"f:capacity", "f:allocatable"}


def test_without_a_document_of_pools_it_does_not_start() -> None:
    world = Operated()
    world.client.delete("configmaps", Key(NAMESPACE, "topology"))

    with pytest.raises(DataError, match="failed to get cluster topology"):
        KwokDevicePlugin(world.client, world.loop, Settings()).start()


A100 = "gpuProduct: NVIDIA-A100-SXM4-80GB, gpuCount: 8, gpuMemory: 81920"
CUT = (
    "mig: [{devices: [0], mig-enabled: true, mig-devices: {2g.20gb: 3, 1g.10gb: 1}},"
    " {devices: [1], mig-enabled: true, mig-devices: {4g.40gb: 1, 3g.40gb: 1}}]"
)


def test_gpus_that_are_cut_or_shared_count_as_such() -> None:
    world, _ = operated(f"{A100}, {CUT}")
    world.gpu_node("n")

    assert amounts(world) == {
        "nvidia.com/gpu": "6",
        "nvidia.com/mig-1g.10gb": "1",
        "nvidia.com/mig-2g.20gb": "3",
        "nvidia.com/mig-3g.40gb": "1",
        "nvidia.com/mig-4g.40gb": "1",
    }

    shared = "sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 10}]}}"
    world.write(default=f"{A100}, {shared}")
    world.run(0.5)
    assert amounts(world) == {"nvidia.com/gpu": "80"}


def edit(world: Operated, text: str) -> None:
    key = Key(NAMESPACE, "topology-n")
    world.client.patch("configmaps", key, {"data": {"topology.yml": text}})
    world.run(0.5)


def test_a_faulty_gpu_is_there_but_cannot_be_given_until_it_is_sound() -> None:
    world, _ = operated()
    world.gpu_node("n")
    tree = world.config_map("n")
    assert tree is not None
    sound = tree["data"]["topology.yml"]

    edit(world, sound.replace("      status:", "      fault: XID 79\n      status:", 1))
    status = world.get("nodes", "n", "")["status"]
    assert status["capacity"]["nvidia.com/gpu"] == "2"
    assert status["allocatable"]["nvidia.com/gpu"] == "1"

    edit(world, sound)
    assert amounts(world) == {"nvidia.com/gpu": "2"}


def test_a_document_that_nobody_can_count_changes_nothing() -> None:
    world, _ = operated(f"{A100}, migStrategy: single")
    world.gpu_node("n")
    tree = world.config_map("n")
    assert tree is not None
    world.updater.stop()

    edit(
        world,
        tree["data"]["topology.yml"].replace("      status:", "      mig: []\n      status:", 1),
    )

    assert amounts(world) == {"nvidia.com/gpu": "8"}
    assert any("no MIG devices" in str(failure[-1]) for failure in world.failures)

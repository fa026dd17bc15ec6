"""The generated modules are what their ``.proto`` files say, and say what the wire says."""

from __future__ import annotations

from pathlib import Path

import pytest

from windtunnel.wire import deviceplugin_pb2, make, podresources_alpha_pb2, podresources_pb2


def test_generated_files_are_current(tmp_path: Path) -> None:
    pytest.importorskip("grpc_tools")
    (tmp_path / "windtunnel" / "wire").mkdir(parents=True)

    assert make.main(tmp_path) == 0

    fresh = {path.name: path.read_text() for path in (tmp_path / "windtunnel/wire").iterdir()}
    kept = {path.name: path.read_text() for path in make.HERE.glob("*_pb2*.py*")}
    assert kept == fresh


def test_services_have_the_names_that_plugins_and_agents_call() -> None:
    services = {
        f"{file.DESCRIPTOR.package}.{name}"
        for file in (deviceplugin_pb2, podresources_pb2, podresources_alpha_pb2)
        for name in file.DESCRIPTOR.services_by_name
    }

    assert services == {
        "v1beta1.Registration",
        "v1beta1.DevicePlugin",
        "v1.PodResourcesLister",
        "v1alpha1.PodResourcesLister",
    }


def test_a_device_is_the_bytes_a_real_plugin_sends() -> None:
    device = deviceplugin_pb2.Device(
        ID="GPU-0",
        health="Healthy",
        topology=deviceplugin_pb2.TopologyInfo(nodes=[deviceplugin_pb2.NUMANode(ID=1)]),
    )

    assert device.SerializeToString() == b"\n\x05GPU-0\x12\x07Healthy\x1a\x04\n\x02\x08\x01"

from contextlib import suppress
from pathlib import Path

import grpc
import pytest
from tests.gpu.device_plugin.kubelet import plugin_at

from windtunnel.gpu.device_plugin.offers import Device, DeviceList
from windtunnel.gpu.device_plugin.resource_plugin import ResourcePlugin
from windtunnel.gpu.sockets import NoSocket
from windtunnel.wire import deviceplugin_pb2 as wire

OFFER = DeviceList("nvidia.com/gpu", "gpu.sock", (Device("GPU-1"), Device("GPU-2")))


def ids(answer: wire.ListAndWatchResponse) -> list[tuple[str, str]]:
    return [(device.ID, device.health) for device in answer.devices]


def test_a_watching_kubelet_hears_of_changes_and_of_the_end(host: Path) -> None:
    endpoint = ResourcePlugin(OFFER, host, {})
    endpoint.start()
    with plugin_at(host / "gpu.sock") as plugin:
        stream = plugin.ListAndWatch(wire.Empty(), timeout=10)
        assert ids(next(stream)) == [("GPU-1", "Healthy"), ("GPU-2", "Healthy")]

        endpoint.replace(OFFER)
        endpoint.replace(
            DeviceList("nvidia.com/gpu", "gpu.sock", (Device("GPU-1", healthy=False),))
        )
        assert ids(next(stream)) == [("GPU-1", "Unhealthy")]

        endpoint.stop()
        with suppress(grpc.RpcError):  # it may be cut off, or find its end
            assert list(stream) == []
    assert not (host / "gpu.sock").exists()


def test_what_a_container_gets(host: Path) -> None:
    endpoint = ResourcePlugin(OFFER, host, {"NODE_NAME": "n1", "TOPOLOGY_SERVER_URL": "http://x"})
    endpoint.start()
    with plugin_at(host / "gpu.sock") as plugin:
        request = wire.AllocateRequest(
            container_requests=[
                wire.ContainerAllocateRequest(devices_ids=["GPU-2", "no-such"]),
                wire.ContainerAllocateRequest(),
            ]
        )
        first, second = plugin.Allocate(request, timeout=5).container_responses
        assert plugin.GetDevicePluginOptions(wire.Empty()) == wire.DevicePluginOptions()
        preferred = plugin.GetPreferredAllocation(wire.PreferredAllocationRequest())
        assert preferred == wire.PreferredAllocationResponse()
        begun = plugin.PreStartContainer(wire.PreStartContainerRequest())
        assert begun == wire.PreStartContainerResponse()
    endpoint.stop()

    assert dict(first.envs) == {
        "MOCK_NVIDIA_VISIBLE_DEVICES": "GPU-2,no-such",
        "NODE_NAME": "n1",
        "TOPOLOGY_SERVER_URL": "http://x",
    }
    (mount,) = first.mounts
    assert (mount.host_path, mount.container_path, mount.read_only) == (
        "/var/lib/runai/bin/nvidia-smi",
        "/bin/nvidia-smi",
        False,
    )
    assert second.envs["MOCK_NVIDIA_VISIBLE_DEVICES"] == ""


def test_a_socket_that_was_left_behind_is_replaced(host: Path) -> None:
    (host / "gpu.sock").write_text("left behind")
    endpoint = ResourcePlugin(OFFER, host, {})
    endpoint.start()

    assert (host / "gpu.sock").is_socket()
    endpoint.stop()
    endpoint.stop()


def test_where_no_socket_can_be_one_sentence_says_so(host: Path) -> None:
    with pytest.raises(NoSocket, match="too long for a socket: 107 bytes"):
        ResourcePlugin(OFFER, host / ("x" * 100), {}).start()
    with pytest.raises(NoSocket, match="cannot listen at"):
        ResourcePlugin(OFFER, host / "absent", {}).start()

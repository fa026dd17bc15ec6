import tempfile
from pathlib import Path

import grpc
import pytest

from windtunnel.gpu.exporter.holdings import PodDevices, ZoneShare
from windtunnel.gpu.exporter.pod_resources import PodResources
from windtunnel.machinery.tree import Key
from windtunnel.wire import podresources_pb2 as wire
from windtunnel.wire import podresources_pb2_grpc as services


def test_who_has_what_is_told_and_nothing_else() -> None:
    with tempfile.TemporaryDirectory(prefix="pr") as name:
        served = PodResources(Path(name))
        served.start()
        mig = "nvidia.com/mig-1g.5gb"
        share = ZoneShare(1, ("GPU-2",), (16, 17), 1 << 30, ((mig, "MIG-1"), (mig, "MIG-2")))
        served.replace([PodDevices(Key("ml", "p"), (share,))])
        socket = Path(name) / "var/lib/fake-gpu-operator/pod-resources/kubelet.sock"
        with grpc.insecure_channel(f"unix:{socket}") as channel:
            lister = services.PodResourcesListerStub(channel)
            (pod,) = lister.List(wire.ListPodResourcesRequest(), timeout=5).pod_resources
            with pytest.raises(grpc.RpcError, match="UNIMPLEMENTED"):
                lister.GetAllocatableResources(wire.AllocatableResourcesRequest(), timeout=5)
        served.stop()

        assert not socket.exists()
    (container,) = pod.containers
    assert (pod.namespace, pod.name, container.name) == ("ml", "p", "")
    devices, slices = container.devices
    assert (slices.resource_name, list(slices.device_ids)) == (mig, ["MIG-1", "MIG-2"])
    assert (devices.resource_name, list(devices.device_ids)) == ("nvidia.com/gpu", ["GPU-2"])
    assert [node.ID for node in devices.topology.nodes] == [1]
    assert list(container.cpu_ids) == [16, 17]
    assert (container.memory[0].memory_type, container.memory[0].size) == ("memory", 1 << 30)

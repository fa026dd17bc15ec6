"""Tells monitoring agents who has which devices, in the place of a kubelet that does not know.

A socket serves the last picture of the node; ``hostfiles`` writes the part of ``/sys`` that belongs
to it.

Source: the protocol v1 of the kubelet's pod resources, as far as fake-gpu-operator 0.2 speaks it.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent import futures
from contextlib import suppress
from pathlib import Path
from typing import Final

import grpc

from windtunnel.devices import GPU
from windtunnel.gpu.exporter.holdings import PodDevices
from windtunnel.gpu.sockets import listen
from windtunnel.wire import podresources_pb2 as wire
from windtunnel.wire import podresources_pb2_grpc as services

_SOCKET: Final = "var/lib/fake-gpu-operator/pod-resources/kubelet.sock"


class PodResources(services.PodResourcesListerServicer):
    """Serves who has what, on a socket under ``root``."""

    def __init__(self, root: Path) -> None:
        self._path = root / _SOCKET
        self._answer = wire.ListPodResourcesResponse()
        self._server: grpc.Server | None = None

    def start(self) -> None:
        """Listen.

        Raises:
            NoSocket: there can be no socket here.
        """
        server = grpc.server(futures.ThreadPoolExecutor(4, thread_name_prefix="pod-resources"))
        services.add_PodResourcesListerServicer_to_server(self, server)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        listen(server, self._path)
        server.start()
        self._server = server

    def stop(self) -> None:
        """Listen no more."""
        server, self._server = self._server, None
        if server is not None:
            server.stop(0).wait()
            with suppress(OSError):
                self._path.unlink(missing_ok=True)

    def replace(self, found: Sequence[PodDevices]) -> None:
        """Tell something else from now on."""
        pods = [_pod(holding) for holding in found]
        self._answer = wire.ListPodResourcesResponse(pod_resources=pods)

    def List(  # noqa: N802
        self, request: wire.ListPodResourcesRequest, context: grpc.ServicerContext
    ) -> wire.ListPodResourcesResponse:
        """Tell who has what."""
        return self._answer


def _pod(holding: PodDevices) -> wire.PodResources:
    """Return one pod; all that it has is told of one container without a name."""
    container = wire.ContainerResources()
    for share in holding.shares:
        zone = wire.TopologyInfo(nodes=[wire.NUMANode(ID=share.zone)])
        by_resource = {GPU: list(share.gpus)} if share.gpus else {}
        for resource, name in share.slices:
            by_resource.setdefault(resource, []).append(name)
        for resource, ids in by_resource.items():
            container.devices.append(
                wire.ContainerDevices(resource_name=resource, device_ids=ids, topology=zone)
            )
        container.cpu_ids.extend(share.cpus)
        if share.memory_bytes:
            container.memory.append(
                wire.ContainerMemory(memory_type="memory", size=share.memory_bytes, topology=zone)
            )
    namespace, name = holding.pod
    return wire.PodResources(name=name, namespace=namespace, containers=[container])

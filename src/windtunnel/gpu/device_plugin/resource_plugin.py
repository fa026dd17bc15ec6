"""One resource's side of the device plugin protocol: a gRPC server on a socket of its own.

Calls come on gRPC's threads; what they read is replaced as a whole, under one lock, by the owner's
thread. A watching kubelet hears of a new offer at once and of nothing else.

Source: device plugin protocol v1beta1.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent import futures
from contextlib import suppress
from pathlib import Path
from typing import Final

import grpc

from windtunnel.gpu.device_plugin.offers import Device, DeviceList, preferred, unshared
from windtunnel.gpu.sockets import listen
from windtunnel.wire import deviceplugin_pb2 as wire
from windtunnel.wire import deviceplugin_pb2_grpc as services

VERSION: Final = "v1beta1"
REGISTER_SECONDS: Final = 5.0
"""How long a kubelet may take to answer; source: fake-gpu-operator 0.2 dials for 5 s."""
_PROGRAM_ON_HOST: Final = "/var/lib/runai/bin/nvidia-smi"
_PROGRAM_IN_CONTAINER: Final = "/bin/nvidia-smi"


class ResourcePlugin(services.DevicePluginServicer):
    """Serves one resource to the kubelet.

    Args:
        offer: What there is at first.
        folder: Where the sockets are.
        environment: What each container gets, beside the ids of its devices.
    """

    def __init__(self, offer: DeviceList, folder: Path, environment: dict[str, str]) -> None:
        self.offer = offer
        self._folder = folder
        self._environment = environment
        self._news = threading.Condition()
        self._version = 0
        self._server: grpc.Server | None = None

    @property
    def listens(self) -> bool:
        """Whether a kubelet would find us."""
        return self._server is not None and (self._folder / self.offer.socket).is_socket()

    def start(self) -> None:
        """Listen.

        Raises:
            NoSocket: there can be no socket in this folder.
        """
        # Each watching kubelet holds a thread; a kubelet has one watch, its successor another.
        server = grpc.server(futures.ThreadPoolExecutor(8, thread_name_prefix=self.offer.socket))
        services.add_DevicePluginServicer_to_server(self, server)
        listen(server, self._folder / self.offer.socket)
        server.start()
        self._server = server

    def stop(self) -> None:
        """Listen no more, and leave no socket."""
        server, self._server = self._server, None
        if server is None:
            return
        with self._news:
            self._version += 1
            self._news.notify_all()
        server.stop(0).wait()
        with suppress(OSError):
            (self._folder / self.offer.socket).unlink(missing_ok=True)

    def replace(self, offer: DeviceList) -> None:
        """Offer something else from now on."""
        with self._news:
            if offer != self.offer:
                self.offer = offer
                self._version += 1
                self._news.notify_all()

    def GetDevicePluginOptions(  # noqa: N802
        self, request: wire.Empty, context: grpc.ServicerContext
    ) -> wire.DevicePluginOptions:
        """Tell that we have a word to say about devices that are one and the same."""
        return _options(self.offer)

    def ListAndWatch(  # noqa: N802
        self, request: wire.Empty, context: grpc.ServicerContext
    ) -> Iterator[wire.ListAndWatchResponse]:
        """Tell all devices, now and whenever they change."""
        context.add_callback(self._wake)
        sent = -1
        while context.is_active() and self._server is not None:
            with self._news:
                if sent == self._version:
                    self._news.wait()
                    continue
                sent, devices = self._version, self.offer.devices
            yield wire.ListAndWatchResponse(devices=[_device(device) for device in devices])

    def GetPreferredAllocation(  # noqa: N802
        self, request: wire.PreferredAllocationRequest, context: grpc.ServicerContext
    ) -> wire.PreferredAllocationResponse:
        """Spread what is shared; prefer nothing else."""
        offer = self.offer
        if not offer.shared:
            return wire.PreferredAllocationResponse()
        return wire.PreferredAllocationResponse(
            container_responses=[
                wire.ContainerPreferredAllocationResponse(
                    deviceIDs=preferred(
                        offer.devices,
                        one.available_deviceIDs,
                        one.must_include_deviceIDs,
                        one.allocation_size,
                    )
                )
                for one in request.container_requests
            ]
        )

    def Allocate(  # noqa: N802
        self, request: wire.AllocateRequest, context: grpc.ServicerContext
    ) -> wire.AllocateResponse:
        """Tell what containers get with their devices; whatever ids they ask for, they may have.

        Only of a shared resource they may ask for too many.
        """
        for one in request.container_requests:
            refusal = self.offer.refusal(len(one.devices_ids))
            if refusal:
                context.abort(grpc.StatusCode.UNKNOWN, refusal)
        return wire.AllocateResponse(
            container_responses=[
                wire.ContainerAllocateResponse(
                    envs={
                        "MOCK_NVIDIA_VISIBLE_DEVICES": ",".join(unshared(one.devices_ids)),
                        **self._environment,
                    },
                    mounts=[
                        wire.Mount(container_path=_PROGRAM_IN_CONTAINER, host_path=_PROGRAM_ON_HOST)
                    ],
                )
                for one in request.container_requests
            ]
        )

    def PreStartContainer(  # noqa: N802
        self, request: wire.PreStartContainerRequest, context: grpc.ServicerContext
    ) -> wire.PreStartContainerResponse:
        """Do nothing; nobody calls this without having been told to."""
        return wire.PreStartContainerResponse()

    def _wake(self) -> None:
        with self._news:
            self._news.notify_all()


def register(kubelet: Path, offer: DeviceList) -> None:
    """Tell a kubelet of one endpoint.

    Raises:
        ConnectionError: it did not answer in time, or refused; the message is its own.
    """
    with grpc.insecure_channel(f"unix:{kubelet}") as channel:
        request = wire.RegisterRequest(
            version=VERSION,
            endpoint=offer.socket,
            resource_name=offer.resource,
            options=_options(offer),
        )
        try:
            services.RegistrationStub(channel).Register(
                request, timeout=REGISTER_SECONDS, wait_for_ready=True
            )
        except grpc.RpcError as error:
            raise ConnectionError(f"{offer.resource}: {error.details()}") from error


def _options(offer: DeviceList) -> wire.DevicePluginOptions:
    return wire.DevicePluginOptions(get_preferred_allocation_available=offer.shared)


def _device(device: Device) -> wire.Device:
    return wire.Device(ID=device.id, health="Healthy" if device.healthy else "Unhealthy")

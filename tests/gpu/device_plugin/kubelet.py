"""A kubelet as device plugins see it: it takes registrations, and calls back."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from pathlib import Path

import grpc

from windtunnel.wire import deviceplugin_pb2 as wire
from windtunnel.wire import deviceplugin_pb2_grpc as services


class Kubelet(services.RegistrationServicer):
    """Keeps what is registered until somebody asks for it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seen: queue.Queue[wire.RegisterRequest] = queue.Queue()
        self.server = grpc.server(futures.ThreadPoolExecutor(2))
        services.add_RegistrationServicer_to_server(self, self.server)
        self.server.add_insecure_port(f"unix:{folder / 'kubelet.sock'}")
        self.server.start()

    def Register(  # noqa: N802
        self, request: wire.RegisterRequest, context: grpc.ServicerContext
    ) -> wire.Empty:
        self.seen.put(request)
        return wire.Empty()

    def stop(self) -> None:
        self.server.stop(0).wait()


@contextmanager
def plugin_at(socket: Path) -> Iterator[services.DevicePluginStub]:
    """Talk to a plugin on its socket."""
    with grpc.insecure_channel(f"unix:{socket}") as channel:
        yield services.DevicePluginStub(channel)

"""A device plugin that does what a script says: lists, refuses, dawdles, dies.

It writes down what the kubelet asks of it, in the recording's form.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import grpc

from windtunnel.machinery.tree import Tree
from windtunnel.wire import deviceplugin_pb2 as pb
from windtunnel.wire import deviceplugin_pb2_grpc as services

_VERSION: Final = "v1beta1"
_REGISTER_SECONDS: Final = 30.0
_BREAK_SECONDS: Final = 0.3
"""How long the streams of a recorded plugin outlived it: another that came before has its list."""
_OPTIONS: Final = (("grpc.use_local_subchannel_pool", 1),)

BEHAVIOURS: Final = ("allocate", "preferred", "prestart", "get_options", "list_and_watch")


class ScriptedPlugin(services.DevicePluginServicer):
    """One plugin, from ``serve`` to ``stop``."""

    def __init__(self, folder: Path, order: Tree, tell: Callable[[Tree], None]) -> None:
        """Make a plugin.

        Args:
            folder: Of the kubelet's registration socket, and of the plugin's own.
            order: A ``plugin_start`` step.
            tell: Told of each call and of each list that is sent; called on any thread.
        """
        self._folder, self._tell = folder, tell
        self.resource: str = order["resource"]
        self._socket: str = order.get("socket") or f"{order['plugin']}.sock"
        self._devices: list[Tree] = order.get("devices") or []
        self._options: Tree = order.get("options") or {}
        self._register_options: Tree = order.get("register_options") or {}
        self._behaviours: Tree = {name: order.get(name) or {} for name in BEHAVIOURS}
        self._changed = threading.Condition()
        self._version = 0
        self._open = False
        self._server: grpc.Server | None = None

    def serve(self) -> None:
        """Make the socket and answer on it."""
        path = self._folder / self._socket
        path.unlink(missing_ok=True)
        server = grpc.server(ThreadPoolExecutor(8), options=[("grpc.so_reuseport", 0)])
        services.add_DevicePluginServicer_to_server(self, server)
        server.add_insecure_port(f"unix:{path}")
        self._open = True
        server.start()
        self._server = server

    def register(
        self,
        version: str = _VERSION,
        endpoint: str = "",
        resource: str | None = None,
    ) -> Tree:
        """Register at the kubelet and return its answer."""
        options = pb.DevicePluginOptions(**self._register_options)
        request = pb.RegisterRequest(
            version=version,
            endpoint=endpoint or self._socket,
            resource_name=self.resource if resource is None else resource,
            options=options,
        )
        target = f"unix:{self._folder / 'kubelet.sock'}"
        with grpc.insecure_channel(target, options=_OPTIONS) as channel:
            stub = services.RegistrationStub(channel)
            try:
                stub.Register(request, timeout=_REGISTER_SECONDS, wait_for_ready=True)
            except grpc.RpcError as error:
                return _failure("register", error)
        return {"register": "OK"}

    def list_devices(self, devices: list[Tree]) -> None:
        """Send another list, at once."""
        with self._changed:
            self._devices = devices
            self._version += 1
            self._changed.notify_all()

    def behave(self, behaviours: Tree) -> None:
        """Replace how some calls are answered."""
        self._behaviours |= behaviours

    def end_stream(self) -> None:
        """Return from ListAndWatch and go on serving."""
        with self._changed:
            self._version = -1
            self._changed.notify_all()

    def stop(self) -> None:
        """Die: nobody is let in, a moment later every stream breaks, the socket goes."""
        with self._changed:
            self._open = False
        if self._server is not None:
            self._server.stop(_BREAK_SECONDS).wait()
            self._server = None
        self.remove_socket()

    def remove_socket(self) -> None:
        """Remove the socket's file and nothing else."""
        (self._folder / self._socket).unlink(missing_ok=True)

    def GetDevicePluginOptions(  # noqa: N802  # the protocol's name
        self, request: pb.Empty, context: grpc.ServicerContext
    ) -> pb.DevicePluginOptions:
        """Answer what the script says of options."""
        self._tell({"call": "GetDevicePluginOptions"})
        self._suffer("get_options", context)
        return pb.DevicePluginOptions(**self._options)

    def ListAndWatch(  # noqa: N802
        self, request: pb.Empty, context: grpc.ServicerContext
    ) -> Iterator[pb.ListAndWatchResponse]:
        """Send the list, and each that replaces it."""
        self._tell({"call": "ListAndWatch"})
        self._suffer("list_and_watch", context)
        context.add_callback(self._wake)
        with self._changed:
            self._version = max(self._version, 0)
            silent = self._behaviours["list_and_watch"].get("no_responses")
            sent = self._version if silent else -1
        while True:
            with self._changed:
                while self._open and context.is_active() and self._version == sent:
                    self._changed.wait()
                if not self._open or self._version < 0:
                    return
                if not context.is_active():
                    self._tell({"stream": "closed by kubelet"})
                    return
                sent, devices = self._version, self._devices
                self._tell({"sent": devices})
            yield pb.ListAndWatchResponse(devices=[_device(device) for device in devices])

    def GetPreferredAllocation(  # noqa: N802
        self, request: pb.PreferredAllocationRequest, context: grpc.ServicerContext
    ) -> pb.PreferredAllocationResponse:
        """Prefer what the script says: given ids, or the first or last ones there are."""
        asked = [
            {
                "available": sorted(one.available_deviceIDs),
                "must_include": sorted(one.must_include_deviceIDs),
                "size": one.allocation_size,
            }
            for one in request.container_requests
        ]
        self._tell({"call": "GetPreferredAllocation", "container_requests": asked})
        behaviour = self._suffer("preferred", context)
        answer = pb.PreferredAllocationResponse()
        if not behaviour.get("no_responses"):
            for one in asked:
                answer.container_responses.add(deviceIDs=preferred(one, behaviour))
        return answer

    def Allocate(  # noqa: N802
        self, request: pb.AllocateRequest, context: grpc.ServicerContext
    ) -> pb.AllocateResponse:
        """Answer with the script's response, ids written in."""
        asked = [sorted(one.devices_ids) for one in request.container_requests]
        self._tell({"call": "Allocate", "container_requests": asked})
        behaviour = self._suffer("allocate", context)
        answer = pb.AllocateResponse()
        if not behaviour.get("no_responses"):
            for ids in asked:
                answer.container_responses.append(_response(behaviour.get("response") or {}, ids))
        return answer

    def PreStartContainer(  # noqa: N802
        self, request: pb.PreStartContainerRequest, context: grpc.ServicerContext
    ) -> pb.PreStartContainerResponse:
        """Answer what the script says."""
        self._tell({"call": "PreStartContainer", "devices_ids": sorted(request.devices_ids)})
        self._suffer("prestart", context)
        return pb.PreStartContainerResponse()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _suffer(self, call: str, context: grpc.ServicerContext) -> Tree:
        """Dawdle or fail, as the script says; return how else to behave."""
        behaviour: Tree = self._behaviours[call] or {}
        if delay := behaviour.get("delay_s"):
            threading.Event().wait(delay)
        if error := behaviour.get("error"):
            context.abort(grpc.StatusCode[error["code"]], error["message"])
        return behaviour


def preferred(asked: Tree, behaviour: Tree) -> list[str]:
    """Return what a plugin prefers: what must be, then the first, or the last, of the rest."""
    if "ids" in behaviour:
        return list(behaviour["ids"])
    must: list[str] = asked["must_include"]
    rest = [one for one in asked["available"] if one not in must]
    if behaviour.get("choose") == "last":
        rest.reverse()
    return must + rest[: max(0, asked["size"] - len(must))]


def _device(device: Tree) -> pb.Device:
    found = pb.Device(ID=device["id"], health=device["health"])
    for node in device.get("numa") or ():
        found.topology.nodes.add(ID=node)
    return found


def _response(response: Tree, ids: Sequence[str]) -> pb.ContainerAllocateResponse:
    written = _write_ids(response, ",".join(ids))
    return pb.ContainerAllocateResponse(
        envs=written.get("envs") or {},
        mounts=[pb.Mount(**mount) for mount in written.get("mounts") or ()],
        devices=[pb.DeviceSpec(**device) for device in written.get("devices") or ()],
        annotations=written.get("annotations") or {},
        cdi_devices=[pb.CDIDevice(name=name) for name in written.get("cdi_devices") or ()],
    )


def _write_ids(value: Any, ids: str) -> Any:
    if isinstance(value, str):
        return value.replace("{ids}", ids)
    if isinstance(value, dict):
        return {name: _write_ids(one, ids) for name, one in value.items()}
    if isinstance(value, list):
        return [_write_ids(one, ids) for one in value]
    return value


def _failure(call: str, error: grpc.RpcError) -> Tree:
    code = getattr(error, "code", lambda: None)()
    details = getattr(error, "details", lambda: "")()
    return {call: "UNKNOWN" if code is None else code.name, "details": details}

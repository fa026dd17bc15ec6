"""The kubelet's line to one device plugin: what it asks, and how failures read.

Every call here may block and is made on a thread of its own; ``close`` may come from anywhere and
ends whatever is still asked. A plugin that hangs is given up after a while, where a real kubelet
waits for good: the longest wait is ``ANSWER_SECONDS``.

Source: kubelet v1.36; texts are those of its gRPC library.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import grpc

from windtunnel.nodes.kubelet.devices.inventory import ListedDevice
from windtunnel.nodes.kubelet.devices.selection import Question
from windtunnel.wire import deviceplugin_pb2 as pb
from windtunnel.wire import deviceplugin_pb2_grpc as services

R = TypeVar("R")

_DIAL_SECONDS: Final = 10.0
_PRESTART_SECONDS: Final = 30.0
_OPTIONS_SECONDS: Final = 30.0
ANSWER_SECONDS: Final = 120.0
"""How long Allocate and GetPreferredAllocation are waited for; ours, a real kubelet has no end."""
_OPTIONS: Final = (
    ("grpc.default_authority", "localhost"),
    ("grpc.use_local_subchannel_pool", 1),  # else a new line to the same path is the old one
    ("grpc.max_receive_message_length", 16 * 1024 * 1024),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
)
_CODES: Final = {"CANCELLED": "Canceled", "OK": "OK"}
_BROKEN: Final = ("Socket closed", "recvmsg", "failed to connect", "Stream removed", "Connection")


class PluginFailed(Exception):
    """A plugin refused, broke down or could not be reached; the text is as kubelets print it."""


@dataclass(frozen=True, slots=True)
class PluginOptions:
    """What a plugin wants to be asked."""

    prestart: bool = False
    preferred: bool = False


NO_WISHES: Final = PluginOptions()


class PluginLink:
    """A connection to the plugin that serves ``socket``."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._channel = grpc.insecure_channel(f"unix:{socket}", options=_OPTIONS)
        self._stub = services.DevicePluginStub(self._channel)

    def dial(self) -> None:
        """Wait until the plugin takes the connection.

        Raises:
            PluginFailed: it does not, for ten seconds.
        """
        ready = grpc.channel_ready_future(self._channel)
        try:
            ready.result(timeout=_DIAL_SECONDS)
        except grpc.FutureTimeoutError:
            ready.cancel()
            raise PluginFailed("failed to dial device plugin: context deadline exceeded") from None

    def options(self) -> PluginOptions:
        """Ask what the plugin wants to be asked."""
        try:
            answer = _ask(self._stub.GetDevicePluginOptions, pb.Empty(), _OPTIONS_SECONDS)
        except PluginFailed as error:
            raise PluginFailed(f"failed to get device plugin options: {error}") from None
        return PluginOptions(answer.pre_start_required, answer.get_preferred_allocation_available)

    def listen(
        self, deliver: Callable[[tuple[ListedDevice, ...]], None], ended: Callable[[], None]
    ) -> None:
        """Have the plugin's lists delivered, on a thread of their own, until the stream ends."""

        def read() -> None:
            try:
                for answer in self._lists():
                    deliver(_devices(answer))
            except (grpc.RpcError, ValueError):  # the stream broke, or the line is closed
                pass
            finally:
                ended()

        threading.Thread(target=read, name="device-list", daemon=True).start()

    def allocate(self, devices: Iterable[str]) -> bytes:
        """Ask for devices; returns the plugin's first container response.

        Raises:
            PluginFailed: it refused, or answered nothing.
        """
        wanted = pb.ContainerAllocateRequest(devices_ids=sorted(devices))
        request = pb.AllocateRequest(container_requests=[wanted])
        answer = _ask(self._stub.Allocate, request, ANSWER_SECONDS)
        if not answer.container_responses:
            # The blank stands for the empty answer that a kubelet prints.
            raise PluginFailed("no containers return in allocation response ")
        return answer.container_responses[0].SerializeToString(deterministic=True)

    def prefer(self, question: Question) -> frozenset[str]:
        """Ask which devices the plugin would rather give."""
        wanted = pb.ContainerPreferredAllocationRequest(
            available_deviceIDs=sorted(question.available),
            must_include_deviceIDs=sorted(question.must_include),
            allocation_size=question.size,
        )
        request = pb.PreferredAllocationRequest(container_requests=[wanted])
        try:
            answer = _ask(self._stub.GetPreferredAllocation, request, ANSWER_SECONDS)
        except PluginFailed as error:
            raise PluginFailed(
                f"device plugin GetPreferredAllocation rpc failed with err: {error}"
            ) from None
        responses = answer.container_responses
        return frozenset(responses[0].deviceIDs if responses else ())

    def prestart(self, devices: Iterable[str]) -> None:
        """Tell that a container with these devices is about to start."""
        request = pb.PreStartContainerRequest(devices_ids=sorted(devices))
        try:
            _ask(self._stub.PreStartContainer, request, _PRESTART_SECONDS)
        except PluginFailed as error:
            raise PluginFailed(
                f"device plugin PreStartContainer rpc failed with err: {error}"
            ) from None

    def close(self) -> None:
        """Hang up; calls that wait for an answer fail."""
        self._channel.close()

    def __str__(self) -> str:
        return str(self._socket)

    def _lists(self) -> Iterable[pb.ListAndWatchResponse]:
        return self._stub.ListAndWatch(pb.Empty())


def _ask(call: Callable[..., R], request: object, seconds: float) -> R:
    try:
        return call(request, timeout=seconds)
    except grpc.RpcError as error:
        raise PluginFailed(_words(error)) from None
    except ValueError:  # what grpc says of a channel that was closed
        raise PluginFailed(
            "rpc error: code = Canceled desc = grpc: the client connection is closing"
        ) from None


def _words(error: grpc.RpcError) -> str:
    """Return how a Go program prints a failed call."""
    code = getattr(error, "code", lambda: None)()
    details = getattr(error, "details", lambda: "")() or ""
    name = "UNKNOWN" if code is None else code.name
    if name == "DEADLINE_EXCEEDED" and details in ("", "Deadline Exceeded"):
        details = "context deadline exceeded"
    elif name == "UNAVAILABLE" and details.startswith(_BROKEN):
        details = "error reading from server: EOF"
    elif name == "CANCELLED" and details.startswith("Channel closed"):
        details = "grpc: the client connection is closing"
    spoken = _CODES.get(name) or "".join(word.title() for word in name.split("_"))
    return f"rpc error: code = {spoken} desc = {details}"


def _devices(answer: pb.ListAndWatchResponse) -> tuple[ListedDevice, ...]:
    return tuple(
        ListedDevice(one.ID, one.health, tuple(node.ID for node in one.topology.nodes))
        for one in answer.devices
    )

"""Pod resources, v1 and v1alpha1: tells monitoring agents who holds which devices.

Requests come on the server's threads; what they ask is answered on the thread that owns the
devices, so an answer is one moment's truth.

Source: kubelet v1.36: active pods only, sidecars and app containers, one entry a device and node.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeVar

import grpc

from windtunnel.kernel import Clock
from windtunnel.machinery.tree import dig
from windtunnel.nodes.kubelet.devices.counts import DeviceCounts
from windtunnel.wire import podresources_alpha_pb2 as alpha
from windtunnel.wire import podresources_alpha_pb2_grpc as alpha_services
from windtunnel.wire import podresources_pb2 as pb
from windtunnel.wire import podresources_pb2_grpc as services

R = TypeVar("R")

_RATE: Final = 100.0
_BURST: Final = 10.0


@dataclass(frozen=True, slots=True)
class HeldDevice:
    """One device of a container on one node; ``node`` None: its plugin named none."""

    resource: str
    id: str
    node: int | None


@dataclass(frozen=True, slots=True)
class PodHoldings:
    """What the containers of one pod hold, in order of their start."""

    namespace: str
    name: str
    containers: tuple[tuple[str, tuple[HeldDevice, ...]], ...]


class HolderQueries:
    """What may be asked of devices; each answer is fetched from their own thread."""

    def __init__(
        self,
        pods: Callable[[], list[PodHoldings]],
        allocatable: Callable[[], list[tuple[str, str, tuple[int, ...]]]],
    ) -> None:
        """Answer by these two calls, which may be made on any thread.

        Args:
            pods: What every active pod holds.
            allocatable: (resource, device, nodes) of every healthy device.
        """
        self.pods, self.allocatable = pods, allocatable


class Valve:
    """Lets so many requests a second through, and a few more at once."""

    def __init__(self, clock: Clock, rate: float = _RATE, burst: float = _BURST) -> None:
        self._clock, self._rate, self._burst = clock, rate, burst
        self._left, self._at = burst, clock.now()
        self._lock = threading.Lock()

    def passes(self) -> bool:
        """Whether one more may pass."""
        with self._lock:
            now = self._clock.now()
            self._left = min(self._burst, self._left + (now - self._at) * self._rate)
            self._at = now
            if self._left < 1:
                return False
            self._left -= 1
            return True


def add(server: grpc.Server, ask: HolderQueries, counts: DeviceCounts, clock: Clock) -> None:
    """Put both versions of the service onto a server."""
    valve = Valve(clock)
    services.add_PodResourcesListerServicer_to_server(_Lister(ask, counts, valve), server)
    alpha_services.add_PodResourcesListerServicer_to_server(
        _AlphaLister(ask, counts, valve), server
    )


class _Lister(services.PodResourcesListerServicer):
    """``v1.PodResourcesLister``."""

    def __init__(self, ask: HolderQueries, counts: DeviceCounts, valve: Valve) -> None:
        self._ask, self._counts, self._valve = ask, counts, valve

    def List(  # noqa: N802  # the protocol's name
        self, request: pb.ListPodResourcesRequest, context: grpc.ServicerContext
    ) -> pb.ListPodResourcesResponse:
        self._count("list", context)
        pods = [_pod(pod) for pod in self._ask.pods()]
        return pb.ListPodResourcesResponse(pod_resources=pods)

    def Get(  # noqa: N802
        self, request: pb.GetPodResourcesRequest, context: grpc.ServicerContext
    ) -> pb.GetPodResourcesResponse:
        self._count("get", context)
        for pod in self._ask.pods():
            if (pod.namespace, pod.name) == (request.pod_namespace, request.pod_name):
                return pb.GetPodResourcesResponse(pod_resources=_pod(pod))
        context.abort(
            grpc.StatusCode.UNKNOWN,
            f"pod {request.pod_name} in namespace {request.pod_namespace} not found",
        )
        raise AssertionError("abort never returns")

    def GetAllocatableResources(  # noqa: N802
        self, request: pb.AllocatableResourcesRequest, context: grpc.ServicerContext
    ) -> pb.AllocatableResourcesResponse:
        self._count("get_allocatable", context)
        held = [
            HeldDevice(resource, device, node)
            for resource, device, nodes in self._ask.allocatable()
            for node in nodes or (None,)
        ]
        return pb.AllocatableResourcesResponse(devices=_devices(held))

    def _count(self, call: str, context: grpc.ServicerContext) -> None:
        _admit(self._valve, context)
        self._counts.pod_resources.labels("v1").inc()
        self._counts.pod_resources_of[call].labels("v1").inc()


class _AlphaLister(alpha_services.PodResourcesListerServicer):
    """``v1alpha1.PodResourcesLister``: the same, without nodes."""

    def __init__(self, ask: HolderQueries, counts: DeviceCounts, valve: Valve) -> None:
        self._ask, self._counts, self._valve = ask, counts, valve

    def List(  # noqa: N802
        self, request: alpha.ListPodResourcesRequest, context: grpc.ServicerContext
    ) -> alpha.ListPodResourcesResponse:
        _admit(self._valve, context)
        self._counts.pod_resources.labels("v1alpha1").inc()
        return alpha.ListPodResourcesResponse(
            pod_resources=[
                alpha.PodResources(
                    name=pod.name,
                    namespace=pod.namespace,
                    containers=[
                        alpha.ContainerResources(name=name, devices=_alpha_devices(held))
                        for name, held in pod.containers
                    ],
                )
                for pod in self._ask.pods()
            ]
        )


def _admit(valve: Valve, context: grpc.ServicerContext) -> None:
    if not valve.passes():
        context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "rejected by rate limit")


def _pod(pod: PodHoldings) -> pb.PodResources:
    return pb.PodResources(
        name=pod.name,
        namespace=pod.namespace,
        containers=[
            pb.ContainerResources(name=name, devices=_devices(held))
            for name, held in pod.containers
        ],
    )


def _devices(held: Iterable[HeldDevice]) -> list[pb.ContainerDevices]:
    devices = []
    for one in held:
        entry = pb.ContainerDevices(resource_name=one.resource, device_ids=[one.id])
        if one.node is not None:
            entry.topology.nodes.add(ID=one.node)
        devices.append(entry)
    return devices


def _alpha_devices(held: Iterable[HeldDevice]) -> list[alpha.ContainerDevices]:
    return [alpha.ContainerDevices(resource_name=one.resource, device_ids=[one.id]) for one in held]


def started_containers(pod: dict[str, object]) -> list[str]:
    """Return the containers of a pod that go on together: sidecars, then app containers."""
    sidecars = [
        one["name"]
        for one in dig(pod, "spec", "initContainers") or ()
        if one.get("restartPolicy") == "Always"
    ]
    return sidecars + [one["name"] for one in dig(pod, "spec", "containers") or ()]

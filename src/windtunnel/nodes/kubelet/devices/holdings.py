"""Who holds which devices: pod, container and resource, and what the plugin answered for them.

A holding outlasts its container's restarts, its plugin and the kubelet. It is dropped when its pod
is no longer active, and not before somebody needs to know.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

NO_NODE: Final = -1
"""The node of devices whose plugin names none."""


@dataclass(frozen=True, slots=True)
class HeldDevices:
    """Devices of one resource that one container holds."""

    by_node: Mapping[int, tuple[str, ...]]
    """Devices by NUMA node, ``NO_NODE`` where there is none; one on two nodes stands twice."""
    answer: bytes
    """The plugin's own ContainerAllocateResponse."""

    @property
    def ids(self) -> frozenset[str]:
        """Return the devices, each once."""
        return frozenset(device for devices in self.by_node.values() for device in devices)


class Holdings:
    """All holdings of a node."""

    def __init__(self) -> None:
        self._pods: dict[str, dict[str, dict[str, HeldDevices]]] = {}

    def put(self, pod_uid: str, container: str, resource: str, holding: HeldDevices) -> None:
        """Give devices to a container."""
        self._pods.setdefault(pod_uid, {}).setdefault(container, {})[resource] = holding

    def of(self, pod_uid: str, container: str) -> Mapping[str, HeldDevices]:
        """Return what a container holds, by resource in order of their names."""
        return dict(sorted(self._pods.get(pod_uid, {}).get(container, {}).items()))

    def one(self, pod_uid: str, container: str, resource: str) -> frozenset[str] | None:
        """Return the devices a container holds of a resource; None: it was never given any."""
        holding = self._pods.get(pod_uid, {}).get(container, {}).get(resource)
        return None if holding is None else holding.ids

    def held(self, resource: str) -> frozenset[str]:
        """Return all devices of a resource that somebody holds."""
        return frozenset().union(*(one.ids for _, _, name, one in self if name == resource))

    def resources(self) -> set[str]:
        """Return the resources of which somebody holds devices."""
        return {resource for _, _, resource, _ in self}

    def pods_with(self, devices: Iterable[str]) -> frozenset[str]:
        """Return the pods that hold any of the devices, by their ids alone as kubelets do."""
        wanted = frozenset(devices)
        return frozenset(uid for uid, _, _, holding in self if holding.ids & wanted)

    def keep(self, pod_uids: Iterable[str]) -> None:
        """Drop what pods hold that are not among those given."""
        for uid in self._pods.keys() - set(pod_uids):
            del self._pods[uid]

    def __iter__(self) -> Iterator[tuple[str, str, str, HeldDevices]]:
        for uid, containers in self._pods.items():
            for container, resources in containers.items():
                for resource, holding in resources.items():
                    yield uid, container, resource, holding

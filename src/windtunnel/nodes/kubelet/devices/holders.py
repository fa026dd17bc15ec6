"""Who holds which devices, put together for agents of monitoring from what is known."""

from __future__ import annotations

from windtunnel.machinery.tree import dig
from windtunnel.nodes.kubelet.devices.holdings import NO_NODE
from windtunnel.nodes.kubelet.devices.knowledge import Knowledge
from windtunnel.nodes.kubelet.devices.pod_resources import (
    HeldDevice,
    PodHoldings,
    started_containers,
)


def pods_held(known: Knowledge) -> list[PodHoldings]:
    """Return what every active pod holds, container by container."""
    known.collect()
    return [
        PodHoldings(
            dig(pod, "metadata", "namespace") or "",
            dig(pod, "metadata", "name") or "",
            tuple(
                (name, _held_by(known, dig(pod, "metadata", "uid"), name))
                for name in started_containers(pod)
            ),
        )
        for pod in known.active_pods()
    ]


def allocatable(known: Knowledge) -> list[tuple[str, str, tuple[int, ...]]]:
    """Return (resource, device, nodes) of every device that can be given."""
    return [
        (resource, device, known.inventory.listed(resource)[device].nodes)
        for resource, devices in known.inventory.registered().items()
        for device in devices
    ]


def _held_by(known: Knowledge, uid: str, container: str) -> tuple[HeldDevice, ...]:
    return tuple(
        HeldDevice(resource, device, None if node == NO_NODE else node)
        for resource, holding in known.holdings.of(uid, container).items()
        for node, devices in sorted(holding.by_node.items())
        for device in devices
    )

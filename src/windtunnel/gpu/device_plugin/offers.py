"""What a node's topology offers to its kubelet: pure, so that tables can test it.

A GPU is offered under the id it has in the topology, on which nvidia-smi, metrics and whoever asks
the kubelet then agree. Devices that the topology only counts get ids that stay the same, too.

Source: fake-gpu-operator 0.2; there all ids are drawn by lot at each start, which is what
``drawn`` is for.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from windtunnel.devices import GPU, NodeTopology

_GPU_SOCKET: Final = "fake-nvidia-gpu.sock"


@dataclass(frozen=True, slots=True)
class Device:
    """One device."""

    id: str
    healthy: bool = True


@dataclass(frozen=True, slots=True)
class DeviceList:
    """All devices of one resource; none is an offer, too."""

    resource: str
    socket: str
    """The file name under which the plugin of the resource listens."""
    devices: tuple[Device, ...]


def offers(
    topology: NodeTopology, node: str, drawn: Callable[[], str] | None = None
) -> tuple[DeviceList, ...]:
    """Return what a node offers, GPUs first.

    Args:
        topology: What the node has.
        node: Its name.
        drawn: Makes ids instead, where they are to be new each time.
    """
    gpus = tuple(
        Device(drawn() if drawn else gpu.id, healthy=not gpu.fault) for gpu in topology.gpus
    )
    return (
        DeviceList(GPU, _GPU_SOCKET, gpus),
        *(
            DeviceList(
                other.name,
                socket_name(other.name),
                tuple(
                    Device(drawn() if drawn else counted_id(node, other.name, index))
                    for index in range(other.count)
                ),
            )
            for other in topology.other_devices
        ),
    )


def socket_name(resource: str) -> str:
    """Return the file name of a resource's socket."""
    return re.sub(r"[/.-]", "_", resource) + ".sock"


def counted_id(node: str, resource: str, index: int) -> str:
    """Return the id of a device that the topology only counts."""
    digest = hashlib.sha256(f"{node}/{resource}/{index}".encode()).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))

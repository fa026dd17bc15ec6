"""What a node's topology offers to its kubelet: pure, so that tables can test it.

A GPU or a slice of one is offered under the id it has in the topology, on which nvidia-smi, metrics
and whoever asks the kubelet then agree. One that is shared is offered as ``<id>::<n>``, n from 0.
Devices that the topology only counts get ids that stay the same, too.

Source: fake-gpu-operator 0.2; there all ids are drawn by lot at each start, which is what
``drawn`` is for.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from windtunnel.devices import GPU, NodeTopology, Offering, offerings

_GPU_SOCKET: Final = "fake-nvidia-gpu.sock"
_REPLICA: Final = "::"


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
    shared: bool = False
    """Whether several devices are one and the same."""
    one_each: bool = False
    """Whether a container may have one only."""

    def refusal(self, count: int) -> str:
        """Return why a container may not have so many, or ""."""
        if count > 1 and self.one_each:
            return (
                f'request for "{self.resource}": invalid request: maximum request size for shared '
                f"resources is 1; found {count}"
            )
        return ""


def offers(
    topology: NodeTopology, node: str, drawn: Callable[[], str] | None = None
) -> tuple[DeviceList, ...]:
    """Return what a node offers, GPUs first.

    Args:
        topology: What the node has.
        node: Its name.
        drawn: Makes ids instead, where they are to be new each time.

    Raises:
        ValueError: nobody can say what its GPUs come to.
    """
    gpus = offerings(topology)
    named = {offer.resource for offer in gpus}
    return (
        *(_of_gpus(offer, drawn) for offer in gpus),
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
            if other.name not in named
        ),
    )


def _of_gpus(offer: Offering, drawn: Callable[[], str] | None) -> DeviceList:
    shared = offer.replicas > 1
    return DeviceList(
        offer.resource,
        _GPU_SOCKET if offer.resource == GPU else socket_name(offer.resource),
        tuple(
            Device(
                f"{unit.id}{_REPLICA}{number}" if shared else drawn() if drawn else unit.id,
                healthy=unit.healthy,
            )
            for unit in offer.units
            for number in range(offer.replicas)
        ),
        shared,
        offer.one_each,
    )


def _base(id_: str) -> str:
    """Return the GPU or slice that a shared device is a share of."""
    return id_.partition(_REPLICA)[0]


def unshared(ids: Iterable[str]) -> list[str]:
    """Return what the ids of devices stand for, each once."""
    return list(dict.fromkeys(map(_base, ids)))


def preferred(
    devices: Sequence[Device], available: Sequence[str], must: Sequence[str], size: int
) -> list[str]:
    """Choose among shared devices: each time one of what the fewest have a share of.

    Source: NVIDIA's device plugin 0.20, the policy ``distributed``.
    """
    chosen = list(must)
    taken = Counter(_base(one.id) for one in devices)
    taken.subtract(map(_base, available))
    taken.update(map(_base, chosen))
    left = [one for one in available if one not in chosen]
    while len(chosen) < size and left:
        best = min(left, key=lambda one: taken[_base(one)])
        left.remove(best)
        chosen.append(best)
        taken[_base(best)] += 1
    return chosen


def socket_name(resource: str) -> str:
    """Return the file name of a resource's socket."""
    return re.sub(r"[/.-]", "_", resource) + ".sock"


def counted_id(node: str, resource: str, index: int) -> str:
    """Return the id of a device that the topology only counts."""
    digest = hashlib.sha256(f"{node}/{resource}/{index}".encode()).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))

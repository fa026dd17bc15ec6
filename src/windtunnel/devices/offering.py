"""What a node's GPUs come to as extended resources: by MIG strategy, slices and sharing.

Everything that says how many there are (a device plugin, the capacity of a played node, labels, the
account of who has what) says it from here.

Source: NVIDIA's device plugin 0.20, in whose words a mistake is told. Where it would end, who uses
this keeps what was offered before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from windtunnel.devices.catalogue import GPU, find_model
from windtunnel.devices.mig_products import geometry_of
from windtunnel.devices.node_topology import MigInstance, NodeTopology, TopologyGpu
from windtunnel.devices.sharing import Sharing

_UNSHARED: Final = Sharing()
_MOST_SHARES: Final = 100_000
"""More than any kubelet takes in one message."""
_MOST_CLIENTS: Final = 48
_MOST_CLIENTS_BEFORE: Final = 16
_MANY_CLIENTS_SINCE: Final = (7, 5)
"""The compute capability since which MPS serves more clients."""
_BAD_MIG: Final = "invalid MIG configuration: "


@dataclass(frozen=True, slots=True)
class Unit:
    """A whole GPU, or a slice of one."""

    id: str
    gpu: int
    """The number of the GPU on its node."""
    slice: int | None = None
    """The number of the slice on its GPU; None for the whole GPU."""
    healthy: bool = True


@dataclass(frozen=True, slots=True)
class Offering:
    """The units that are offered under one name."""

    resource: str
    units: tuple[Unit, ...]
    replicas: int = 1
    """How often each unit is offered."""
    one_each: bool = False
    """Whether a container may have one only."""

    @property
    def capacity(self) -> int:
        """How many there are, sound or not."""
        return len(self.units) * self.replicas

    @property
    def allocatable(self) -> int:
        """How many can be given."""
        return sum(unit.healthy for unit in self.units) * self.replicas


def offerings(topology: NodeTopology) -> tuple[Offering, ...]:
    """Return what the GPUs of a node are offered as, ``nvidia.com/gpu`` first.

    Raises:
        ValueError: slices contradict the strategy, or each other; or there are impossibly many
            shares.
    """
    whole = [_whole(index, gpu) for index, gpu in enumerate(topology.gpus)]
    cut = [(index, gpu) for index, gpu in enumerate(topology.gpus) if gpu.mig is not None]
    strategy = topology.mig_strategy or "none"
    if not cut or strategy == "none":
        found = {GPU: whole}
    elif strategy == "single":
        found = {GPU: _single(topology, cut)}
    elif strategy == "mixed":
        found = _mixed(topology, whole, cut)
    else:
        raise ValueError(f"unknown MIG strategy: {strategy}")
    sharing = topology.sharing or _UNSHARED
    if sharing.mps is not None:
        _check_mps(topology, sharing, is_cut=bool(cut) and strategy != "none")
    return tuple(_offering(name, units, sharing) for name, units in found.items())


def capacity_of(topology: NodeTopology) -> dict[str, str]:
    """Return the extended resources of a node, as its status writes them.

    Raises:
        ValueError: nobody can say what its GPUs come to.
    """
    gpus = {offer.resource: str(offer.capacity) for offer in offerings(topology)}
    return gpus | {
        device.name: str(device.count)
        for device in topology.other_devices
        if device.name not in gpus
    }


def allocatable_of(topology: NodeTopology) -> dict[str, str]:
    """Return what of its capacity a node can give.

    Raises:
        ValueError: nobody can say what its GPUs come to.
    """
    sound = {offer.resource: str(offer.allocatable) for offer in offerings(topology)}
    return capacity_of(topology) | sound


def _offering(name: str, units: Sequence[Unit], sharing: Sharing) -> Offering:
    replicas = sharing.replicas(name)
    if replicas > 1 and replicas * len(units) > _MOST_SHARES:
        raise ValueError(f"a node cannot offer {replicas * len(units)} shares of {name}")
    one_each = replicas > 1 and sharing.refuses_more_than_one
    return Offering(sharing.offered_name(name), tuple(units), replicas, one_each)


def _whole(index: int, gpu: TopologyGpu) -> Unit:
    return Unit(gpu.id, index, healthy=not gpu.fault)


def _slices(index: int, gpu: TopologyGpu) -> list[tuple[MigInstance, Unit]]:
    return [
        (one, Unit(one.id, index, number, healthy=not gpu.fault))
        for number, one in enumerate(gpu.mig or ())
    ]


def _single(topology: NodeTopology, cut: Sequence[tuple[int, TopologyGpu]]) -> list[Unit]:
    for index, gpu in cut:
        if not gpu.mig:
            raise ValueError(
                f"{_BAD_MIG}at least one device with migEnabled=true was not configured "
                f"correctly: device {index} has no MIG devices configured"
            )
    found = [pair for index, gpu in cut for pair in _slices(index, gpu)]
    if len({one.profile for one, _ in found}) > 1:
        raise ValueError(f"{_BAD_MIG}more than one MIG device type present on node")
    if len(cut) != len(topology.gpus):
        raise ValueError(
            f"{_BAD_MIG}all devices on the node must be configured with the same migEnabled value"
        )
    return [unit for _, unit in found]


def _mixed(
    topology: NodeTopology, whole: Sequence[Unit], cut: Sequence[tuple[int, TopologyGpu]]
) -> dict[str, list[Unit]]:
    is_cut = {index for index, _ in cut}
    found: dict[str, list[Unit]] = {}
    for index, gpu in cut:
        for one, unit in _slices(index, gpu):
            profile = geometry_of(topology.gpu_product).profile(one.profile)
            found.setdefault(profile.resource, []).append(unit)
    uncut = [unit for unit in whole if unit.gpu not in is_cut]
    return {GPU: uncut, **{name: found[name] for name in sorted(found)}}


def _check_mps(topology: NodeTopology, sharing: Sharing, *, is_cut: bool) -> None:
    if is_cut:
        raise ValueError("sharing using MPS is not supported for MIG devices")
    model = find_model(topology.gpu_product)
    most = _MOST_CLIENTS
    if model is not None:
        major, _, minor = model.compute.partition(".")
        if (int(major), int(minor)) < _MANY_CLIENTS_SINCE:
            most = _MOST_CLIENTS_BEFORE
    for shared in sharing.replication.resources:
        if (shared.replicas or 1) > most:
            raise ValueError(
                f"invalid device maximum allowed replicas exceeded: {shared.replicas} > {most}"
            )

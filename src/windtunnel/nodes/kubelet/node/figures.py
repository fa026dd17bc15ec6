"""How much a node has, and how much of it pods may have.

Source: kubelet v1.36 and k3s, with the reservations that each makes: a plain kubelet keeps 100 MiB
of memory and a tenth of the disk, k3s a twentieth of the disk.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Final

from windtunnel.machinery.quantity import to_int
from windtunnel.nodes.kubelet.node.machine import Machine
from windtunnel.nodes.kubelet.settings import Settings

_KEPT_MEMORY_KIB: Final = {"k3s": 0, "plain": 100 * 1024}
_KEPT_STORAGE: Final = {"k3s": 0.05, "plain": 0.1}


def figures(
    machine: Machine,
    settings: Settings,
    device_capacity: Mapping[str, int],
    device_allocatable: Mapping[str, int],
) -> tuple[dict[str, str], dict[str, str]]:
    """Return capacity and allocatable, as a node's status writes them."""
    memory_kib = to_int(settings.memory) // 1024 if settings.memory else machine.memory_kib
    storage = machine.storage_bytes
    if settings.ephemeral_storage:
        storage = to_int(settings.ephemeral_storage)
    storage_kib = storage // 1024
    kept = int(storage_kib * 1024 * _single(_KEPT_STORAGE[settings.distribution]))
    common = {"cpu": str(settings.cpus or machine.cpus)}
    rest = {"hugepages-1Gi": "0", "hugepages-2Mi": "0"}
    pods = {"pods": str(settings.max_pods)}
    capacity = {
        **common,
        "ephemeral-storage": f"{storage_kib}Ki",
        **rest,
        "memory": f"{memory_kib}Ki",
        **pods,
    }
    allocatable = {
        **common,
        "ephemeral-storage": str(storage_kib * 1024 - kept),
        **rest,
        "memory": f"{memory_kib - _KEPT_MEMORY_KIB[settings.distribution]}Ki",
        **pods,
    }
    capacity |= {name: str(amount) for name, amount in sorted(device_capacity.items())}
    allocatable |= {name: str(amount) for name, amount in sorted(device_allocatable.items())}
    return capacity, allocatable


def _single(number: float) -> float:
    """Return the number as single precision has it: the kubelet keeps shares so."""
    narrowed: float = struct.unpack("f", struct.pack("f", number))[0]
    return narrowed

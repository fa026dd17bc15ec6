"""Which devices a container gets: those it has, those it inherits, those that lie well, the rest.

The plugin may be asked in between, so a choice has two halves: ``begin`` settles what needs no
answer and says what is to be asked, ``complete`` takes the answer. Where nobody minds which device
it is, ours are the first by name; a real kubelet takes any.

Source: kubelet v1.36, device manager; texts are exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from windtunnel.nodes.kubelet.devices.inventory import ListedDevice


class Unavailable(Exception):
    """There are no such devices to give; the text is the kubelet's."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a plugin is asked that has a preference."""

    available: frozenset[str]
    must_include: frozenset[str]
    size: int


@dataclass(frozen=True, slots=True)
class DeviceChoice:
    """A choice half made."""

    taken: tuple[str, ...]
    """Settled, whatever the plugin prefers."""
    needed: int
    """How many are to come."""
    pools: tuple[frozenset[str], ...]
    """Where they come from, the best first; the plugin's preference holds in all of them."""
    question: Question | None
    """None: there is nothing to ask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRequest:
    """What one container wants of one resource, and how things stand."""

    pod_uid: str
    container: str
    resource: str
    required: int
    held: frozenset[str] | None
    """What the container has been given before; None: nothing."""
    reusable: frozenset[str]
    """What init containers of the pod leave to it."""
    healthy: frozenset[str]
    in_use: frozenset[str]
    """What anybody holds, the pod itself included."""
    registered: bool
    running: bool = False
    """The container already runs, and the kubelet has only just begun."""


def begin(
    request: DeviceRequest, listed: Mapping[str, ListedDevice], mask: int | None
) -> DeviceChoice:
    """Settle what can be settled.

    Args:
        request: What is wanted.
        listed: The resource's devices.
        mask: NUMA nodes, one bit each, to which the topology policy keeps the container;
            None: none.

    Raises:
        Unavailable: the container cannot have what it wants.
    """
    needed = request.required - len(request.held or ())
    resource = request.resource
    if request.held is not None and needed:
        raise Unavailable(
            f'pod "{request.pod_uid}" container "{request.container}" changed request for resource '
            f'"{resource}" from {len(request.held)} to {request.required}'
        )
    if request.running:
        return DeviceChoice((), 0, (), None)
    if not request.registered:
        raise Unavailable(f"cannot allocate unregistered device {resource}")
    if not request.healthy:
        raise Unavailable(
            f"no healthy devices present; cannot allocate unhealthy devices {resource}"
        )
    if request.held and not request.held <= request.healthy:
        raise Unavailable(
            "previously allocated devices are no longer healthy; "
            f"cannot allocate unhealthy devices {resource}"
        )
    taken = tuple(sorted(request.reusable))[:needed]
    needed -= len(taken)
    if not needed:
        return DeviceChoice(taken, 0, (), None)
    available = request.healthy - request.in_use - set(taken)
    if len(available) < needed:
        raise Unavailable(
            f"requested number of devices unavailable for {resource}. "
            f"Requested: {needed}, Available: {len(available)}"
        )
    aligned, unaligned, loose = _by_node(available, listed, mask)
    if needed < len(aligned):
        question = Question(aligned | set(taken), frozenset(taken), request.required)
        return DeviceChoice(taken, needed, (aligned,), question)
    taken += tuple(sorted(aligned))
    needed -= len(aligned)
    if not needed:
        return DeviceChoice(taken, 0, (), None)
    question = Question(available | set(taken), frozenset(taken), request.required)
    return DeviceChoice(taken, needed, (unaligned, loose), question)


def complete(selection: DeviceChoice, preferred: Iterable[str]) -> tuple[str, ...]:
    """Return the devices: settled ones, preferred ones that can be had, then whatever is there."""
    candidates = frozenset().union(*selection.pools)
    wanted = frozenset(preferred) & candidates
    rest = [sorted(wanted), *(sorted(pool - wanted) for pool in selection.pools)]
    return selection.taken + tuple(one for part in rest for one in part)[: selection.needed]


def _by_node(
    available: frozenset[str], listed: Mapping[str, ListedDevice], mask: int | None
) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Split devices into those on the nodes asked for, those on others, and those on none."""
    if mask is None or not any(device.nodes for device in listed.values()):
        return frozenset(), frozenset(), available
    loose = frozenset(one for one in available if one not in listed or not listed[one].nodes)
    aligned = frozenset(
        one for one in available - loose if any(mask >> node & 1 for node in listed[one].nodes)
    )
    return aligned, available - loose - aligned, loose

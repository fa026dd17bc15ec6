"""Where a request could be met: hints of one resource about NUMA nodes.

A set of nodes is the bits of a number. A hint is *preferred* when no smaller set could ever meet
the request, counting devices that somebody holds as well as free ones.

Source: kubelet v1.36, topology manager.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from windtunnel.nodes.kubelet.devices.inventory import ListedDevice


@dataclass(frozen=True, slots=True)
class Hint:
    """A set of nodes that would do; ``mask`` None: any, or none at all."""

    mask: int | None
    preferred: bool


def mask_of(nodes: Iterable[int]) -> int:
    """Return the set of these nodes; there is no node below 0."""
    mask = 0
    for node in nodes:
        if node >= 0:
            mask |= 1 << node
    return mask


def subsets(mask: int) -> Sequence[int]:
    """Return every set of nodes within ``mask`` but the empty one, small ones first."""
    found = []
    part = mask
    while part:
        found.append(part)
        part = (part - 1) & mask
    return sorted(found, key=lambda one: (one.bit_count(), one))


def device_hints(
    listed: Mapping[str, ListedDevice],
    available: Iterable[str],
    reusable: Iterable[str],
    request: int,
    machine: int,
) -> list[Hint] | None:
    """Return where ``request`` devices could come from.

    Args:
        listed: All devices of the resource.
        available: Those that are free.
        reusable: Those that init containers of the pod leave; a hint must cover them.
        request: How many are wanted.
        machine: All nodes of the machine.

    Returns:
        The sets of nodes that would do; None: no device has a node, so anything does; an empty
        list: too few are free, so nothing does.
    """
    places = {device.id: mask_of(device.nodes) & machine for device in listed.values()}
    if not any(device.nodes for device in listed.values()):
        return None
    left, inherited = set(available), set(reusable)
    if len(left | inherited) < request:
        return []
    held = [places[one] for one in inherited if places.get(one)]
    free = [places.get(one, 0) for one in left - inherited]
    smallest = machine.bit_count()
    masks = []
    for mask in subsets(mask_of_all(places.values())):
        if sum(bool(place & mask) for place in places.values()) >= request:
            smallest = min(smallest, mask.bit_count())
        covers = all(place & mask for place in held)
        if covers and len(held) + sum(bool(place & mask) for place in free) >= request:
            masks.append(mask)
    return [Hint(mask, mask.bit_count() == smallest) for mask in masks]


def mask_of_all(masks: Iterable[int]) -> int:
    """Return the nodes that are in any of the sets."""
    whole = 0
    for mask in masks:
        whole |= mask
    return whole

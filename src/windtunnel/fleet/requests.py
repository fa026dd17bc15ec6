"""What a pod asks for, in the whole numbers that nodes are counted in.

Cpu is in thousandths, everything else in units, both rounded up; the arithmetic itself is that of
``kinds.pod.requests``.

Source: kube-scheduler v1.36, the scheduler's non-zero requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from windtunnel.fleet.pod_wire import Container, ContainerHold, Demand, StatedResources
from windtunnel.kinds.pod.requests import (
    Amounts,
    ContainerRequests,
    Held,
    amounts,
    base_units,
    requests_of,
)

Whole = dict[str, int]
"""Resource name to amount."""

ASSUMED: Final[Amounts] = amounts({"cpu": "100m", "memory": "200Mi"})
"""What scores count for a container that does not say; an explicit 0 stays 0."""


def whole(quantities: Mapping[str, str | int | float] | None) -> Whole:
    """Return whole amounts of a resource list."""
    return base_units(amounts(quantities))


def counts_as_scalar(resource: str) -> bool:
    """Say whether nodes account for the resource besides cpu, memory and ephemeral storage."""
    return "/" in resource or resource.startswith(("hugepages-", "attachable-volumes-"))


def demanded(
    demand: Demand,
    statuses: Mapping[str, ContainerHold] | None,
    infeasible: bool,
    *,
    pod_level: bool,
    assumed: Amounts | None,
) -> Whole:
    """Return what a node must have for the pod.

    Args:
        demand: The part of its spec that counts.
        statuses: What running containers hold, by name.
        infeasible: Whether a resize is under way that can never be.
        pod_level: Whether what is given for the pod as a whole counts.
        assumed: Amounts for containers that do not name a resource.
    """
    held = {
        name: Held(_listed(one.resources), one.allocated_resources)
        for name, one in (statuses or {}).items()
    }
    found = requests_of(
        map(_container, demand.containers),
        map(_container, demand.init_containers or ()),
        held=held,
        infeasible=infeasible,
        least=assumed,
        pod_level=_listed(demand.resources) if pod_level else None,
        overhead=demand.overhead,
    )
    return base_units(found)


def assumed_for(requests: Whole, pod_level: StatedResources | None) -> Amounts:
    """Return the amounts to assume for silent containers when a node's non-zero use is summed.

    With pod-level requests, only resources that the whole pod does not name are assumed.
    """
    if pod_level is None or not pod_level.requests:
        return ASSUMED
    return {name: value for name, value in ASSUMED.items() if name not in requests}


def _container(container: Container) -> ContainerRequests:
    sidecar = container.restart_policy == "Always"
    return ContainerRequests(container.name, _listed(container.resources), sidecar)


def _listed(resources: StatedResources | None) -> Mapping[str, str | int | float] | None:
    return resources.requests if resources is not None else None

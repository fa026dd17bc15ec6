"""What a pod asks for: the request arithmetic every rule of placement starts from.

Amounts are whole numbers: cpu in thousandths, everything else in units, both rounded up. The wire
views decode only the few fields the arithmetic reads.

Source: kube-scheduler v1.36, PodRequests and the scheduler's non-zero requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct, field

from windtunnel.machinery.quantity import to_int, to_milli

Amounts = dict[str, int]
"""Resource name to amount."""

MISSING_CPU_MILLI: Final = 100
MISSING_MEMORY_BYTES: Final = 200 * 1024 * 1024
ASSUMED: Final[Mapping[str, int]] = {"cpu": MISSING_CPU_MILLI, "memory": MISSING_MEMORY_BYTES}
"""What scores count for a container that does not say; an explicit 0 stays 0."""


class Resources(Struct, frozen=True):
    """``resources`` of a container, of a pod, or as a status reports them."""

    requests: dict[str, str | int | float] | None = None


class Port(Struct, frozen=True, rename="camel"):
    """One port of a container."""

    host_port: int = 0
    host_ip: str = field(default="", name="hostIP")
    protocol: str = "TCP"


class Container(Struct, frozen=True, rename="camel"):
    """One container, as far as placement cares."""

    name: str = ""
    image: str = ""
    resources: Resources | None = None
    ports: tuple[Port, ...] | None = None
    restart_policy: str = ""


class ContainerStatus(Struct, frozen=True, rename="camel"):
    """What a kubelet says a container really holds (in-place resize)."""

    name: str = ""
    resources: Resources | None = None
    allocated_resources: dict[str, str | int | float] | None = None


def amount(resource: str, value: str | int | float) -> int:
    """Return the whole amount that ``value`` means for ``resource``."""
    return to_milli(value) if resource == "cpu" else to_int(value)


def amounts(quantities: Mapping[str, str | int | float] | None) -> Amounts:
    """Return whole amounts of a resource list."""
    return {name: amount(name, value) for name, value in (quantities or {}).items()}


def counts_as_scalar(resource: str) -> bool:
    """Say whether nodes account for the resource besides cpu, memory and ephemeral storage."""
    return "/" in resource or resource.startswith(("hugepages-", "attachable-volumes-"))


def pod_requests(
    containers: Iterable[Container],
    init_containers: Iterable[Container],
    pod_level: Resources | None,
    overhead: Mapping[str, str | int | float] | None,
    *,
    statuses: Mapping[str, ContainerStatus] | None = None,
    assumed: Mapping[str, int] | None = None,
) -> Amounts:
    """Return what a node must have for the pod.

    Args:
        containers: They run side by side.
        init_containers: They run one after the other, but sidecars (restartPolicy Always) stay.
        pod_level: ``spec.resources``; replaces cpu, memory and huge pages of the sum.
        overhead: ``spec.overhead``, added last.
        statuses: What running containers hold, by name; the larger of the two counts.
        assumed: Amounts for containers that do not name a resource.
    """

    def own(container: Container) -> Amounts:
        wanted = amounts(container.resources.requests if container.resources else None)
        status = statuses.get(container.name) if statuses else None
        if status is not None:
            held = amounts(status.resources.requests if status.resources else None)
            _raise_to(wanted, held)
            _raise_to(wanted, amounts(status.allocated_resources))
        if assumed:
            wanted = {**assumed, **wanted}
        return wanted

    total: Amounts = {}
    for container in containers:
        _add(total, own(container))
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in init_containers:
        level = own(container)
        if container.restart_policy == "Always":
            _add(total, level)
            _add(sidecars, level)
            level = dict(sidecars)
        else:
            _add(level, sidecars)
        _raise_to(peak, level)
    _raise_to(total, peak)
    if pod_level is not None:
        for name, value in amounts(pod_level.requests).items():
            if name in ("cpu", "memory") or name.startswith("hugepages-"):
                total[name] = value
    _add(total, amounts(overhead))
    return total


def assumed_for(requests: Amounts, pod_level: Resources | None) -> Mapping[str, int]:
    """Return the amounts to assume for silent containers when a node's non-zero use is summed.

    With pod-level requests, only resources that the whole pod does not name are assumed.
    """
    if pod_level is None or not pod_level.requests:
        return ASSUMED
    return {name: value for name, value in ASSUMED.items() if name not in requests}


def _add(total: Amounts, more: Mapping[str, int]) -> None:
    for name, value in more.items():
        total[name] = total.get(name, 0) + value


def _raise_to(total: Amounts, floor: Mapping[str, int]) -> None:
    for name, value in floor.items():
        if name not in total or total[name] < value:
            total[name] = value

"""How much a pod asks for: the one arithmetic that quotas, scheduling and accounts of GPUs share.

Containers add up; an ordinary init container needs its own share beside the sidecars that have
started before it; the pod needs the larger of both phases, plus its overhead. What is given for the
pod as a whole replaces the sum. Source: k8s.io/component-helpers resource, v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from windtunnel.kinds.rules.resource_names import is_pod_level
from windtunnel.machinery.quantity import ZERO, Quantity, parse
from windtunnel.machinery.tree import Tree, dig

Amounts = dict[str, Quantity]
"""Quantities by resource name."""
Listed = Mapping[str, Any] | None
"""A resource list, as objects write it."""
Section = Literal["requests", "limits"]


class ContainerRequests(NamedTuple):
    """One container as the arithmetic sees it."""

    name: str
    stated: Listed
    sidecar: bool = False


class Held(NamedTuple):
    """What a kubelet says that a container holds."""

    actual: Listed
    allocated: Listed


def amounts(listed: Listed) -> Amounts:
    """Return a resource list as quantities."""
    return {name: parse(value) for name, value in listed.items()} if listed else {}


def add(total: Amounts, more: Amounts) -> None:
    """Add ``more`` to ``total`` in place."""
    for name, quantity in more.items():
        held = total.get(name)
        total[name] = quantity if held is None else held + quantity


def raise_to(total: Amounts, least: Amounts) -> None:
    """Raise each amount of ``total`` to at least that of ``least``, in place."""
    for name, quantity in least.items():
        held = total.get(name)
        if held is None or held.nanos < quantity.nanos:
            total[name] = quantity


def fold(containers: Iterable[Amounts], init: Iterable[tuple[Amounts, bool]]) -> Amounts:
    """Return what containers need together, over the whole life of their pod.

    Args:
        containers: They run side by side.
        init: They run one after the other; sidecars (True) keep running.
    """
    total: Amounts = {}
    for each in containers:
        add(total, each)
    sidecars: Amounts = {}
    highest: Amounts = {}
    for own, sidecar in init:
        level = dict(own)
        if sidecar:
            add(total, own)
            add(sidecars, own)
            level = dict(sidecars)
        else:
            add(level, sidecars)
        raise_to(highest, level)
    raise_to(total, highest)
    return total


def requests_of(
    containers: Iterable[ContainerRequests],
    init: Iterable[ContainerRequests],
    *,
    held: Mapping[str, Held] | None = None,
    infeasible: bool = False,
    least: Amounts | None = None,
    pod_level: Listed = None,
    overhead: Listed = None,
) -> Amounts:
    """Return what a pod requests.

    Args:
        containers: The main ones.
        init: The others, in order.
        held: What containers and sidecars hold, by name, where a resize may be under way: the
            largest of all views counts.
        infeasible: Whether the node can never grant the resize: what is written does not count.
        least: What a container requests of a resource that it does not mention.
        pod_level: What is given for the pod as a whole; it replaces the sum.
        overhead: Added last.
    """

    def own(one: ContainerRequests, resizable: bool) -> Amounts:
        status = held.get(one.name) if held and resizable else None
        found = amounts(one.stated)
        if status is not None and (status.actual or status.allocated):
            if infeasible:
                found = {}
            raise_to(found, amounts(status.actual))
            raise_to(found, amounts(status.allocated))
        return {**least, **found} if least else found

    total = fold(
        (own(one, True) for one in containers),
        ((own(one, one.sidecar), one.sidecar) for one in init),
    )
    _replace(total, pod_level)
    add(total, amounts(overhead))
    return total


def is_sidecar(container: Tree) -> bool:
    """Say whether an init container keeps running beside the others."""
    return container.get("restartPolicy") == "Always"


def _stated(container: Tree, part: Section) -> Amounts:
    resources = container.get("resources")
    return amounts(resources.get(part)) if resources else {}


def container_amounts(spec: Tree, part: Section) -> Amounts:
    """Return what all containers of a pod spec come to, without pod level and overhead."""
    return fold(
        (_stated(container, part) for container in spec.get("containers") or ()),
        (
            (_stated(container, part), is_sidecar(container))
            for container in spec.get("initContainers") or ()
        ),
    )


def _resize_is_infeasible(pod: Tree) -> bool:
    return any(
        condition.get("type") == "PodResizePending" and condition.get("reason") == "Infeasible"
        for condition in dig(pod, "status", "conditions") or ()
    )


def pod_requests(pod: Tree) -> Amounts:
    """Return what a pod requests; while it is resized, its status counts too."""
    spec = pod.get("spec") or {}
    status = pod.get("status") or {}
    held = {
        each.get("name", ""): Held(
            dig(each, "resources", "requests"), each.get("allocatedResources")
        )
        for key in ("containerStatuses", "initContainerStatuses")
        for each in status.get(key) or ()
        if each.get("resources") or each.get("allocatedResources")
    }
    return requests_of(
        map(_container, spec.get("containers") or ()),
        map(_container, spec.get("initContainers") or ()),
        held=held,
        infeasible=bool(held) and _resize_is_infeasible(pod),
        pod_level=dig(spec, "resources", "requests"),
        overhead=spec.get("overhead"),
    )


def _container(container: Tree) -> ContainerRequests:
    stated = dig(container, "resources", "requests")
    return ContainerRequests(container.get("name", ""), stated, is_sidecar(container))


def pod_limits(pod: Tree) -> Amounts:
    """Return what a pod is limited to; overhead counts only where there is a limit."""
    spec = pod.get("spec") or {}
    total = container_amounts(spec, "limits")
    _replace(total, dig(spec, "resources", "limits"))
    for name, quantity in amounts(spec.get("overhead")).items():
        if total.get(name, ZERO).nanos:
            total[name] = total[name] + quantity
    return total


def _replace(total: Amounts, pod_level: Listed) -> None:
    for name, value in (pod_level or {}).items():
        if is_pod_level(name):
            total[name] = parse(value)


def base_units(requests: Amounts) -> dict[str, int]:
    """Return amounts as whole numbers: cpu in thousandths, all else in units, rounded up."""
    return {
        name: quantity.milli if name == "cpu" else quantity.units
        for name, quantity in requests.items()
    }


def qos_class(spec: Tree) -> str:
    """Return Guaranteed, Burstable or BestEffort: who is sacrificed last when memory runs out."""
    whole = spec.get("resources")
    if whole:
        parts = [whole]
        needs_both = bool(whole.get("limits"))
    else:
        parts = [
            container.get("resources") or {}
            for key in ("containers", "initContainers")
            for container in spec.get(key) or ()
        ]
        needs_both = True
    requests: Amounts = {}
    limits: Amounts = {}
    guaranteed = True
    for part in parts:
        add(requests, _compute(part.get("requests")))
        limited = _compute(part.get("limits"))
        add(limits, limited)
        if needs_both and len(limited) != 2:
            guaranteed = False
    if not requests and not limits:
        return "BestEffort"
    if guaranteed and requests == limits:
        return "Guaranteed"
    return "Burstable"


def _compute(listed: Mapping[str, Any] | None) -> Amounts:
    found: Amounts = {}
    for name in ("cpu", "memory"):
        value = (listed or {}).get(name)
        if value is not None and parse(value).nanos > 0:
            found[name] = parse(value)
    return found

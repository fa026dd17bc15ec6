"""How much a pod asks for: the one arithmetic that quotas, limit ranges and schedulers share.

Containers add up; an ordinary init container needs its own share beside the sidecars that have
started before it; the pod needs the larger of both phases, plus its overhead. What is given for the
pod as a whole replaces the sum. Source: k8s.io/component-helpers resource, v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from windtunnel.kinds.rules.resource_names import is_pod_level
from windtunnel.machinery.quantity import ZERO, Quantity, parse
from windtunnel.machinery.tree import Tree, dig

Amounts = dict[str, Quantity]
"""Quantities by resource name."""
Part = Literal["requests", "limits"]

UNSTATED_CPU: Final = parse("100m")
UNSTATED_MEMORY: Final = parse("200Mi")
"""What the scheduler's scores count for a container that states nothing."""


def amounts(listed: Mapping[str, Any] | None) -> Amounts:
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


def is_sidecar(container: Tree) -> bool:
    """Say whether an init container keeps running beside the others."""
    return container.get("restartPolicy") == "Always"


def _aggregate(containers: Iterable[Amounts], init: Iterable[tuple[Amounts, bool]]) -> Amounts:
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


def _stated(container: Tree, part: Part) -> Amounts:
    resources = container.get("resources")
    return amounts(resources.get(part)) if resources else {}


def container_amounts(spec: Tree, part: Part) -> Amounts:
    """Return what all containers of a pod spec come to, without pod level and overhead."""
    return _aggregate(
        (_stated(container, part) for container in spec.get("containers") or ()),
        (
            (_stated(container, part), is_sidecar(container))
            for container in spec.get("initContainers") or ()
        ),
    )


def _with_status(container: Tree, statuses: Mapping[str, Tree], infeasible: bool) -> Amounts:
    """Return a container's request while a resize may be under way: the largest of all views."""
    own = _stated(container, "requests")
    status = statuses.get(container.get("name", ""))
    if status is None:
        return own
    actual = amounts(dig(status, "resources", "requests"))
    allocated = amounts(status.get("allocatedResources"))
    if not actual and not allocated:
        return own
    total = {} if infeasible else own
    raise_to(total, actual)
    raise_to(total, allocated)
    return total


def _resize_is_infeasible(pod: Tree) -> bool:
    return any(
        condition.get("type") == "PodResizePending" and condition.get("reason") == "Infeasible"
        for condition in dig(pod, "status", "conditions") or ()
    )


def pod_requests(pod: Tree, *, least: Amounts | None = None, overhead: bool = True) -> Amounts:
    """Return what a pod requests.

    Args:
        pod: The whole pod; while it is resized, its status counts too.
        least: What a container requests of a resource that it does not mention.
        overhead: Whether the runtime's overhead is added.
    """
    spec = pod.get("spec") or {}
    status = pod.get("status") or {}
    statuses = {
        each.get("name", ""): each
        for key in ("containerStatuses", "initContainerStatuses")
        for each in status.get(key) or ()
        if each.get("resources") or each.get("allocatedResources")
    }
    infeasible = bool(statuses) and _resize_is_infeasible(pod)

    def own(container: Tree, resizable: bool) -> Amounts:
        if statuses and resizable:
            stated = _with_status(container, statuses, infeasible)
        else:
            stated = _stated(container, "requests")
        return {**least, **stated} if least else stated

    total = _aggregate(
        (own(each, True) for each in spec.get("containers") or ()),
        (
            (own(each, is_sidecar(each)), is_sidecar(each))
            for each in spec.get("initContainers") or ()
        ),
    )
    _replace_by_pod_level(total, spec, "requests")
    if overhead and spec.get("overhead"):
        add(total, amounts(spec["overhead"]))
    return total


def pod_limits(pod: Tree) -> Amounts:
    """Return what a pod is limited to; overhead counts only where there is a limit."""
    spec = pod.get("spec") or {}
    total = container_amounts(spec, "limits")
    _replace_by_pod_level(total, spec, "limits")
    for name, quantity in amounts(spec.get("overhead")).items():
        if total.get(name, ZERO).nanos:
            total[name] = total[name] + quantity
    return total


def _replace_by_pod_level(total: Amounts, spec: Tree, part: Part) -> None:
    given = spec.get("resources")
    if given:
        for name, value in (given.get(part) or {}).items():
            if is_pod_level(name):
                total[name] = parse(value)


def scored_requests(pod: Tree, requests: Amounts) -> Amounts:
    """Return requests with the scheduler's stand-ins for containers that state no cpu or memory.

    A pod that states something as a whole gets stand-ins only for what it does not request at all.
    """
    least = {"cpu": UNSTATED_CPU, "memory": UNSTATED_MEMORY}
    if dig(pod, "spec", "resources", "requests"):
        least = {name: quantity for name, quantity in least.items() if name not in requests}
    if not least:
        return requests
    return pod_requests(pod, least=least)


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

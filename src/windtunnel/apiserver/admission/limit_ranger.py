"""Limit ranges: defaults for containers that say nothing, bounds for what they say.

Source: LimitRanger of Kubernetes v1.36; only creates are limited.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from windtunnel.kinds.pod.requests import Amounts, amounts, container_amounts
from windtunnel.machinery.admission import Act, Petition
from windtunnel.machinery.quantity import MAX_IN_MILLI, ZERO, Quantity, parse
from windtunnel.machinery.tree import Tree, dig
from windtunnel.store import Store

_ANNOTATION: Final = "kubernetes.io/limit-ranger"
_CONTAINERS: Final = (("containers", "container"), ("initContainers", "init container"))


class LimitRanger:
    """Applies the limit ranges of a namespace."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def concerns(self, act: Act) -> bool:
        """Creates of pods and claims."""
        limited = act.resource in ("pods", "persistentvolumeclaims")
        return limited and act.operation == "CREATE" and not act.subresource

    def _ranges(self, namespace: str) -> list[list[Tree]]:
        if not self._store.count("limitranges", namespace):
            return []
        return [
            dig(version.tree(), "spec", "limits") or []
            for version in self._store.list("limitranges", namespace)
        ]

    def mutate(self, petition: Petition) -> None:
        """Set default requests and limits of containers."""
        if petition.act.resource != "pods" or petition.new is None:
            return
        for items in self._ranges(petition.namespace):
            requests: Tree = {}
            limits: Tree = {}
            for item in items:
                if item.get("type") == "Container":
                    requests.update(item.get("defaultRequest") or {})
                    limits.update(item.get("default") or {})
            said = _fill(petition.new["spec"], requests, limits)
            if said:
                annotations = petition.new["metadata"].setdefault("annotations", {})
                annotations[_ANNOTATION] = "LimitRanger plugin set: " + "; ".join(said)

    def judge(self, petition: Petition) -> None:
        """Refuse what lies outside the bounds."""
        if petition.new is None:
            return
        for items in self._ranges(petition.namespace):
            if petition.act.resource == "pods":
                errors = list(_pod_errors(petition.new["spec"], items))
            else:
                errors = list(_claim_errors(petition.new, items))
            if errors:
                text = errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]"
                raise petition.refusal(text)


def _fill(spec: Tree, requests: Tree, limits: Tree) -> list[str]:
    """Set what containers do not state, and say what was set."""
    said = []
    for field, noun in _CONTAINERS:
        for container in spec.get(field) or ():
            resources = container.setdefault("resources", {})
            for part, defaults, word in (
                ("requests", requests, "request"),
                ("limits", limits, "limit"),
            ):
                given = resources.get(part) or {}
                added = sorted(name for name in defaults if name not in given)
                if added:
                    resources[part] = {**given, **{name: defaults[name] for name in added}}
                    said.append(f"{', '.join(added)} {word} for {noun} {container.get('name', '')}")
    return said


def _pod_errors(spec: Tree, items: list[Tree]) -> Iterator[str]:
    for item in items:
        type_ = item.get("type", "")
        if type_ == "Container":
            for field, _ in _CONTAINERS:
                for container in spec.get(field) or ():
                    resources = container.get("resources") or {}
                    yield from _bounds(
                        item, type_, amounts(resources.get("requests")),
                        amounts(resources.get("limits")),
                    )  # fmt: skip
        elif type_ == "Pod":
            yield from _bounds(
                item, type_, container_amounts(spec, "requests"), container_amounts(spec, "limits")
            )


def _bounds(item: Tree, type_: str, requests: Amounts, limits: Amounts) -> Iterator[str]:
    for name, value in (item.get("min") or {}).items():
        yield from _least(name, type_, parse(value), requests.get(name), limits.get(name))
    for name, value in (item.get("max") or {}).items():
        yield from _most(name, type_, parse(value), requests.get(name), limits.get(name))
    for name, value in (item.get("maxLimitRequestRatio") or {}).items():
        yield from _ratio(name, type_, parse(value), requests.get(name), limits.get(name))


def _least(
    name: str, type_: str, bound: Quantity, request: Quantity | None, limit: Quantity | None
) -> Iterator[str]:
    text = f"minimum {name} usage per {type_} is {bound}"
    asked, most, least = _counted(request or ZERO, limit or ZERO, bound)
    if request is None:
        yield f"{text}. No request is specified"
    elif asked < least:
        yield f"{text}, but request is {request}"
    elif limit is not None and most < least:
        yield f"{text}, but limit is {limit}"


def _most(
    name: str, type_: str, bound: Quantity, request: Quantity | None, limit: Quantity | None
) -> Iterator[str]:
    text = f"maximum {name} usage per {type_} is {bound}"
    asked, most, largest = _counted(request or ZERO, limit or ZERO, bound)
    if limit is None:
        yield f"{text}. No limit is specified"
    elif most > largest:
        yield f"{text}, but limit is {limit}"
    elif request is not None and asked > largest:
        yield f"{text}, but request is {request}"


def _ratio(
    name: str, type_: str, bound: Quantity, request: Quantity | None, limit: Quantity | None
) -> Iterator[str]:
    text = f"{name} max limit to request ratio per {type_} is {bound}"
    asked, most, _ = _counted(request or ZERO, limit or ZERO, bound)
    if not asked:
        yield f"{text}, but no request is specified or request is 0"
    elif not most:
        yield f"{text}, but no limit is specified or limit is 0"
    else:
        fine = bound.units <= MAX_IN_MILLI
        if most / asked * (1000 if fine else 1) > (bound.milli if fine else bound.units):
            yield f"{text}, but provided ratio is {most / asked:.6f}"


def _counted(*quantities: Quantity) -> list[int]:
    """Return quantities as integers: in thousandths where all can be, else in units."""
    units = [quantity.units for quantity in quantities]
    if all(number <= MAX_IN_MILLI for number in units):
        return [quantity.milli for quantity in quantities]
    return units


def _claim_errors(claim: Tree, items: list[Tree]) -> Iterator[str]:
    requests: dict[str, Any] = dig(claim, "spec", "resources", "requests") or {}
    for item in items:
        type_ = item.get("type", "")
        if type_ != "PersistentVolumeClaim":
            continue
        for name, value in (item.get("min") or {}).items():
            given = requests.get(name)
            yield from _least(name, type_, parse(value), given and parse(given), None)
        for name, value in (item.get("max") or {}).items():
            given, bound = requests.get(name), parse(value)
            if given is None:
                continue
            asked, largest = _counted(parse(given), bound)
            if asked > largest:
                yield f"maximum {name} usage per {type_} is {bound}, but request is {parse(given)}"

"""Limit ranges: what each container, pod or claim of a namespace must keep to."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from windtunnel.kinds.pod.spec_defaults import default_resource_list
from windtunnel.kinds.rules.checks import name_cell
from windtunnel.kinds.rules.resource_names import (
    container_resource_name,
    may_overcommit,
    resource_name,
)
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.machinery import names
from windtunnel.machinery.quantity import MAX_IN_MILLI, Quantity, parse
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    duplicate,
    forbidden,
    invalid,
    required,
)

_TYPES: Final = ("Pod", "Container", "PersistentVolumeClaim")
_ONE: Final = parse("1")
_PARTS: Final = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")

Bounds = Mapping[str, Quantity]


def _default(tree: Tree) -> None:
    for item in dig(tree, "spec", "limits") or ():
        for part in _PARTS:
            default_resource_list(item.get(part))
        if item.get("type") == "Container":
            _fill(item)


def _fill(item: Tree) -> None:
    """Limits default to the maximum; requests to the limit, else to the minimum."""
    limits: Tree = item.get("default") or {}
    requests: Tree = item.get("defaultRequest") or {}
    for name, value in (item.get("max") or {}).items():
        limits.setdefault(name, value)
    for source in (limits, item.get("min") or {}):
        for name, value in source.items():
            requests.setdefault(name, value)
    if limits:
        item["default"] = limits
    if requests:
        item["defaultRequest"] = requests


def _validate(tree: Tree) -> list[Violation]:
    found: list[Violation] = []
    seen: set[str] = set()
    for index, item in enumerate(dig(tree, "spec", "limits") or ()):
        where, kind = f"spec.limits[{index}]", item.get("type", "")
        found += _type(kind, f"{where}.type")
        if kind in seen:
            found.append(duplicate(f"{where}.type", kind))
        seen.add(kind)
        found += _item(item, kind, where)
    return found


def _type(kind: str, field: str) -> list[Violation]:
    if texts := names.label_key(kind):
        return [invalid(field, kind, text) for text in texts]
    if "/" not in kind and kind not in _TYPES:
        return [invalid(field, kind, "must be a standard limit type or fully qualified")]
    return []


def _item(item: Tree, kind: str, field: str) -> list[Violation]:
    judge = container_resource_name if kind in ("Pod", "Container") else resource_name
    found: list[Violation] = []
    amounts: dict[str, Bounds] = {}
    order: dict[str, None] = {}
    for part in _PARTS:
        listed = item.get(part) or {}
        if kind == "Pod" and part in ("default", "defaultRequest"):
            if listed:
                text = "may not be specified when `type` is 'Pod'"
                found.append(forbidden(f"{field}.{part}", text))
            listed = {}
        for name in listed:
            found += judge(name, f"{field}.{part}[{name}]")
            order[name] = None
        amounts[part] = {name: parse(value) for name, value in listed.items()}
        if part == "defaultRequest" and kind == "PersistentVolumeClaim":
            stored = (item.get("min") or {}).keys() | (item.get("max") or {}).keys()
            if "storage" not in stored:
                text = (
                    "either minimum or maximum storage value is required, but neither was provided"
                )
                found.append(required(f"{field}.limits", text))
    for name in order:
        found += _amounts(name, amounts, field)
    return found


def _amounts(name: str, amounts: Mapping[str, Bounds], field: str) -> list[Violation]:
    least, most = amounts["min"].get(name), amounts["max"].get(name)
    limit, request = amounts["default"].get(name), amounts["defaultRequest"].get(name)
    found: list[Violation] = []

    def say(part: str, value: Quantity, text: str) -> None:
        found.append(invalid(f"{field}.{part}[{name}]", str(value), text))

    if least is not None and most is not None and least > most:
        say("min", least, f"min value {least} is greater than max value {most}")
    if request is not None:
        if least is not None and least > request:
            text = f"min value {least} is greater than default request value {request}"
            say("defaultRequest", request, text)
        if most is not None and request > most:
            text = f"default request value {request} is greater than max value {most}"
            say("defaultRequest", request, text)
        if limit is not None and request > limit:
            text = f"default request value {request} is greater than default limit value {limit}"
            say("defaultRequest", request, text)
    if limit is not None:
        if least is not None and least > limit:
            say("default", least, f"min value {least} is greater than default value {limit}")
        if most is not None and limit > most:
            say("default", most, f"default value {limit} is greater than max value {most}")
    ratio = amounts["maxLimitRequestRatio"].get(name)
    if ratio is not None:
        if ratio < _ONE:
            say("maxLimitRequestRatio", ratio, f"ratio {ratio} is less than 1")
        if least is not None and most is not None:
            allowed, bound = _ratios(ratio, least, most)
            if allowed > bound:
                text = f"ratio {ratio} is greater than max/min = {bound:f}"
                say("maxLimitRequestRatio", ratio, text)
    if limit is not None and request is not None and not may_overcommit(name) and limit != request:
        text = f"default value {limit} must equal to defaultRequest value {request} in {name}"
        say("defaultRequest", request, text)
    return found


def _ratios(ratio: Quantity, least: Quantity, most: Quantity) -> tuple[float, float]:
    """Return the ratio that is allowed and the largest that can be, in 64-bit arithmetic."""
    if max(ratio.units, least.units, most.units) < MAX_IN_MILLI:
        allowed, low, high = ratio.milli / 1000, least.milli, most.milli
    else:
        allowed, low, high = float(ratio.units), least.units, most.units
    return allowed, high / low if low else math.inf


def _validate_update(new: Tree, _: Tree) -> list[Violation]:
    return _validate(new)


def _cells(tree: Tree, _: float) -> list[Any]:
    return [name_cell(tree), dig(tree, "metadata", "creationTimestamp")]


DECLARATIONS: Final = {
    "limitranges": Declared(
        creates_on_put=True,
        metadata_judged=(0, 1),
        rules=Rules(
            default=_default,
            validate_create=_validate,
            validate_update=_validate_update,
            cells=_cells,
        ),
    )
}

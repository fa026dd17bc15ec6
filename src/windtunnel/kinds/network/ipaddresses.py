"""IP addresses and the ranges they come from (IPAddress, ServiceCIDR).

Source: networking.k8s.io/v1 of v1.36.3.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.rules import checks
from windtunnel.kinds.rules.checks import IMMUTABLE
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    invalid,
    required,
)

_PARENT: Final = "spec.parentRef"
_RANGES: Final = "spec.cidrs"
_ONE_EACH: Final = (
    "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
)


def _validate_address(tree: Tree) -> list[Violation]:
    parent = dig(tree, "spec", "parentRef")
    if parent is None:
        return [required(_PARENT)]
    group, namespace = parent.get("group") or "", parent.get("namespace") or ""
    found: list[Violation] = []
    if group:
        found += checks.each(names.dns_subdomain(group), f"{_PARENT}.group", group)
    for key in ("resource", "name"):
        found += checks.named(parent.get(key), f"{_PARENT}.{key}", names.path_segment)
    if namespace:
        found += checks.each(names.path_segment(namespace), f"{_PARENT}.namespace", namespace)
    return found


def _validate_address_update(new: Tree, old: Tree) -> list[Violation]:
    parent, before = dig(new, "spec", "parentRef"), dig(old, "spec", "parentRef")
    return checks.immutable(parent, before, _PARENT, checks.go_value(parent))


def _address_cells(tree: Tree, now: float) -> list[Any]:
    parent = dig(tree, "spec", "parentRef")
    shown = "<none>"
    if parent is not None:
        group = parent.get("group") or ""
        kind = parent.get("resource", "") + (f".{group}" if group else "")
        parts = [kind.lower(), parent.get("namespace") or "", parent.get("name") or ""]
        shown = "/".join(part for part in parts if part)
    # The real server prints an age too, though it announces no column for it.
    return [checks.name_cell(tree), shown, checks.age_cell(tree, now)]


def _validate_range(tree: Tree) -> list[Violation]:
    spec = tree.get("spec") or {}
    ranges = spec.get("cidrs") or []
    if not ranges:
        return [required(_RANGES, "at least one CIDR required")]
    if len(ranges) > 2:
        shown = {"CIDRs": ranges}
        return [invalid(_RANGES, shown, "may only hold up to 2 values")]
    found: list[Violation] = []
    for index, text in enumerate(ranges):
        found += checks.each(names.canonical_ip_range(text), f"{_RANGES}[{index}]", text)
    if len(ranges) == 2 and not found and len({":" in text for text in ranges}) == 1:
        found.append(invalid(_RANGES, ranges, _ONE_EACH))
    return found


def _validate_range_update(new: Tree, old: Tree) -> list[Violation]:
    ranges, before = dig(new, "spec", "cidrs") or [], dig(old, "spec", "cidrs") or []
    grows = (len(before), len(ranges)) == (1, 2)
    if len(ranges) != len(before) and not grows:
        return [invalid(_RANGES, ranges, IMMUTABLE)]
    found = [
        invalid(f"{_RANGES}[{index}]", text, IMMUTABLE)
        for index, (text, was) in enumerate(zip(ranges, before, strict=False))
        if text != was
    ]
    return found + (_validate_range(new) if grows else [])


def _range_cells(tree: Tree, now: float) -> list[Any]:
    ranges = dig(tree, "spec", "cidrs") or []
    return [checks.name_cell(tree), ",".join(ranges), checks.age_cell(tree, now)]


ADDRESS: Final = Rules(
    validate_create=_validate_address,
    validate_update=_validate_address_update,
    cells=_address_cells,
)
RANGE: Final = Rules(
    prepare_create=checks.without_status(),
    prepare_update=checks.keep_status,
    validate_create=_validate_range,
    validate_update=_validate_range_update,
    cells=_range_cells,
)
DECLARATIONS: Final = {
    "ipaddresses.networking.k8s.io": Declared(rules=ADDRESS, name_rule=names.canonical_ip_address),
    "servicecidrs.networking.k8s.io": Declared(rules=RANGE),
}

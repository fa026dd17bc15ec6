"""Network policies: stored and judged; nothing here moves packets.

Source: networking.k8s.io/v1 of v1.36.3.
"""

from __future__ import annotations

import ipaddress
from typing import Any, Final

from windtunnel.kinds.network.address_warnings import one_range_warnings, range_warnings
from windtunnel.kinds.rules import checks
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.machinery import names
from windtunnel.machinery.selectors import validate_label_selector
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    forbidden,
    invalid,
    required,
)

_TYPES: Final = ["Ingress", "Egress"]


def _default(tree: Tree) -> None:
    spec = tree.setdefault("spec", {})
    for direction in ("ingress", "egress"):
        for rule in spec.get(direction) or ():
            for port in rule.get("ports") or ():
                if port.get("protocol") is None:
                    port["protocol"] = "TCP"
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


def _validate_port(given: Tree, field: str) -> list[Violation]:
    port, end = given.get("port"), given.get("endPort")
    found: list[Violation] = []
    if given.get("protocol") is not None:
        found += checks.one_of(given["protocol"], f"{field}.protocol", ["TCP", "UDP", "SCTP"])
    if port is None:
        if end is not None:
            text = "may not be specified when `port` is not specified"
            found.append(invalid(f"{field}.endPort", end, text))
    elif isinstance(port, str):
        if end is not None:
            text = "may not be specified when `port` is non-numeric"
            found.append(invalid(f"{field}.endPort", end, text))
        found += checks.each(names.port_name(port), f"{field}.port", port)
    else:
        found += checks.each(names.port_number(port), f"{field}.port", port)
        if end is not None:
            if end < port:
                text = "must be greater than or equal to `port`"
                found.append(invalid(f"{field}.endPort", port, text))
            found += checks.each(names.port_number(end), f"{field}.endPort", end)
    return found


def _validate_block(block: Tree, field: str) -> list[Violation]:
    outer = block.get("cidr") or ""
    if not outer:
        return [required(f"{field}.cidr")]
    found = checks.each(names.ip_range(outer), f"{field}.cidr", outer)
    if found:
        return found
    whole = ipaddress.ip_network(outer)
    for index, inner in enumerate(block.get("except") or ()):
        where = f"{field}.except[{index}]"
        wrong = names.ip_range(inner)
        found += checks.each(wrong, where, inner)
        if not wrong and not _strictly_inside(ipaddress.ip_network(inner), whole):
            found.append(invalid(where, inner, "must be a strict subset of `cidr`"))
    return found


def _strictly_inside(
    inner: ipaddress.IPv4Network | ipaddress.IPv6Network,
    outer: ipaddress.IPv4Network | ipaddress.IPv6Network,
) -> bool:
    if isinstance(inner, ipaddress.IPv4Network) and isinstance(outer, ipaddress.IPv4Network):
        return inner.subnet_of(outer) and inner != outer
    if isinstance(inner, ipaddress.IPv6Network) and isinstance(outer, ipaddress.IPv6Network):
        return inner.subnet_of(outer) and inner != outer
    return False


def _validate_peer(peer: Tree, field: str) -> list[Violation]:
    found: list[Violation] = []
    selectors = [k for k in ("podSelector", "namespaceSelector") if peer.get(k) is not None]
    for key in selectors:
        found += validate_label_selector(peer[key], f"{field}.{key}")
    block = peer.get("ipBlock")
    if block is not None:
        found += _validate_block(block, f"{field}.ipBlock")
        if selectors:
            found.append(forbidden(field, "may not specify both ipBlock and another peer"))
    elif not selectors:
        found.append(required(field, "must specify a peer"))
    return found


def _validate(tree: Tree) -> list[Violation]:
    spec = tree.get("spec") or {}
    found = validate_label_selector(spec.get("podSelector"), "spec.podSelector")
    for direction, side in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(direction) or ()):
            where = f"spec.{direction}[{index}]"
            for number, port in enumerate(rule.get("ports") or ()):
                found += _validate_port(port, f"{where}.ports[{number}]")
            for number, peer in enumerate(rule.get(side) or ()):
                found += _validate_peer(peer, f"{where}.{side}[{number}]")
    types = spec.get("policyTypes") or []
    if len(types) > len(_TYPES):
        text = "may not specify more than two policyTypes"
        return [*found, invalid("spec.policyTypes", types, text)]
    for index, kind in enumerate(types):
        found += checks.one_of(kind, f"spec.policyTypes[{index}]", _TYPES)
    return found


def _cells(tree: Tree, now: float) -> list[Any]:
    return [
        checks.name_cell(tree),
        checks.selector_cell(dig(tree, "spec", "podSelector") or {}),
        checks.age_cell(tree, now),
    ]


def _warnings(new: Tree, old: Tree | None) -> list[str]:
    found: list[str] = []
    for direction, side in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(dig(new, "spec", direction) or ()):
            for number, peer in enumerate(rule.get(side) or ()):
                block = peer.get("ipBlock") or {}
                where = f"spec.{direction}[{index}].{side}[{number}].ipBlock"
                found += one_range_warnings(block.get("cidr", ""), f"{where}.cidr")
                found += range_warnings(block.get("except") or (), f"{where}.except")
    return found


RULES: Final = Rules(
    default=_default,
    validate_create=_validate,
    validate_update=lambda new, _: _validate(new),
    warnings=_warnings,
    cells=_cells,
)
DECLARATIONS: Final = {
    "networkpolicies.networking.k8s.io": Declared(generation="spec", rules=RULES)
}

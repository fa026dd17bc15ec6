"""Endpoint slices: where a service's pods answer.

Source: discovery.k8s.io/v1 of v1.36.3.
"""

from __future__ import annotations

import ipaddress
from typing import Any, Final

from windtunnel.kinds.rules import checks
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Context, Rules
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import (
    Violation,
    duplicate,
    invalid,
    not_supported,
    required,
    too_many,
)

_TYPES: Final = ["FQDN", "IPv4", "IPv6"]
_PROTOCOLS: Final = ["SCTP", "TCP", "UDP"]
_MOST_ENDPOINTS: Final = 1000
_MOST_PORTS: Final = 20000
_MOST_ADDRESSES: Final = 100
_MOST_HINTS: Final = 8
_SHOWN: Final = 3


def _default(tree: Tree) -> None:
    for port in tree.get("ports") or ():
        if port.get("name") is None:
            port["name"] = ""
        if port.get("protocol") is None:
            port["protocol"] = "TCP"


def _drop_topology(tree: Tree) -> None:
    for endpoint in tree.get("endpoints") or ():
        endpoint.pop("deprecatedTopology", None)


def _prepare_create(tree: Tree, _: Context) -> None:
    _drop_topology(tree)


def _prepare_update(new: Tree, old: Tree, _: Context) -> None:
    if new.get("endpoints") != old.get("endpoints"):
        _drop_topology(new)


def validate_endpoint_address(text: str, field: str) -> list[Violation]:
    """Judge an address that a pod or host could answer at: no loopback, no link-local."""
    address = ipaddress.ip_address(text)
    found: list[Violation] = []
    if address.is_unspecified:
        found.append(invalid(field, text, f"may not be unspecified ({text})"))
    if address.is_loopback:
        reason = "may not be in the loopback range (127.0.0.0/8, ::1/128)"
        found.append(invalid(field, text, reason))
    if address.is_link_local:
        reason = "may not be in the link-local range (169.254.0.0/16, fe80::/10)"
        found.append(invalid(field, text, reason))
    if _is_link_local_multicast(address):
        reason = "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"
        found.append(invalid(field, text, reason))
    return found


def _is_link_local_multicast(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    if isinstance(address, ipaddress.IPv4Address):
        return address in ipaddress.IPv4Network("224.0.0.0/24")
    return address in ipaddress.IPv6Network("ff02::/16")


def _validate_address(text: str, kind: str, field: str, index: int) -> list[Violation]:
    where = f"{field}[{index}]"
    if kind == "FQDN":
        return _validate_domain(text, where)
    wrong = names.canonical_ip_address(text) if kind == "IPv6" else names.ip_address(text)
    if wrong:
        return checks.each(wrong, where, text)
    found: list[Violation] = []
    version = "IPv6" if ":" in text else "IPv4"
    if version != kind:
        found.append(invalid(field, text, f"must be an {kind} address"))
    return found + validate_endpoint_address(text, where)


def _validate_domain(text: str, field: str) -> list[Violation]:
    if not text:
        return [required(field)]
    wrong = names.dns_subdomain(text.removesuffix("."))
    if wrong:
        return checks.each(wrong, field, text)
    labels = text.removesuffix(".").split(".")
    if len(labels) < 2:
        reason = "should be a domain with at least two segments separated by dots"
        return [invalid(field, text, reason)]
    return [
        found for label in labels for found in checks.each(names.dns_label(label), field, label)
    ]


def _validate_hints(hints: Tree, field: str) -> list[Violation]:
    found: list[Violation] = []
    for key, rule in (("forZones", names.label_value), ("forNodes", names.dns_subdomain)):
        hinted = hints.get(key) or []
        if len(hinted) > _MOST_HINTS:
            return [*found, too_many(f"{field}.{key}", len(hinted), _MOST_HINTS)]
        seen: set[str] = set()
        for index, hint in enumerate(hinted):
            where, name = f"{field}.{key}[{index}].name", hint.get("name") or ""
            if name in seen:
                found.append(duplicate(where, name))
            seen.add(name)
            found += checks.each(rule(name), where, name)
    return found


def _validate_endpoint(endpoint: Tree, kind: str, field: str) -> list[Violation]:
    addresses = endpoint.get("addresses") or []
    found: list[Violation] = []
    if not addresses:
        found.append(required(f"{field}.addresses", "must contain at least 1 address"))
    elif len(addresses) > _MOST_ADDRESSES:
        found.append(too_many(f"{field}.addresses", len(addresses), _MOST_ADDRESSES))
    if kind in _TYPES:
        for index, address in enumerate(addresses):
            found += _validate_address(address, kind, f"{field}.addresses", index)
    for key, rule in (("nodeName", names.dns_subdomain), ("hostname", names.dns_label)):
        value = endpoint.get(key)
        if value is not None:
            found += checks.each(rule(value), f"{field}.{key}", value)
    return found + _validate_hints(endpoint.get("hints") or {}, f"{field}.hints")


def _validate_endpoints(tree: Tree) -> list[Violation]:
    endpoints = tree.get("endpoints") or []
    if len(endpoints) > _MOST_ENDPOINTS:
        return [too_many("endpoints", len(endpoints), _MOST_ENDPOINTS)]
    kind = tree.get("addressType") or ""
    return [
        found
        for index, endpoint in enumerate(endpoints)
        for found in _validate_endpoint(endpoint, kind, f"endpoints[{index}]")
    ]


def _validate_ports(ports: list[Tree]) -> list[Violation]:
    if len(ports) > _MOST_PORTS:
        return [too_many("ports", len(ports), _MOST_PORTS)]
    found: list[Violation] = []
    seen: set[str] = set()
    for index, port in enumerate(ports):
        where, name = f"ports[{index}]", port.get("name") or ""
        if name:
            found += checks.each(names.dns_label(name), f"{where}.name", name)
        if name in seen:
            found.append(duplicate(f"{where}.name", name))
        seen.add(name)
        protocol = port.get("protocol")
        if protocol is None:
            found.append(required(f"{where}.protocol"))
        elif protocol not in _PROTOCOLS:
            found.append(not_supported(f"{where}.protocol", protocol, _PROTOCOLS))
        spoken = port.get("appProtocol")
        if spoken is not None:
            found += checks.each(names.label_key(spoken), f"{where}.appProtocol", spoken)
    return found


def _validate_frame(tree: Tree) -> list[Violation]:
    found = checks.one_of_needed(tree.get("addressType"), "addressType", _TYPES)
    return found + _validate_ports(tree.get("ports") or [])


def _validate(tree: Tree) -> list[Violation]:
    return _validate_frame(tree) + _validate_endpoints(tree)


def _validate_update(new: Tree, old: Tree) -> list[Violation]:
    found = _validate_frame(new)
    if new.get("endpoints") != old.get("endpoints"):
        found += _validate_endpoints(new)
    kind, before = new.get("addressType"), old.get("addressType")
    return found + checks.immutable(kind, before, "addressType")


def _warnings(new: Tree, old: Tree | None) -> list[str]:
    if old is None and new.get("addressType") == "FQDN":
        return ["spec.addressType: FQDN endpoints are deprecated"]
    return []


def _listed(items: list[str]) -> str:
    if not items:
        return "<unset>"
    shown = ",".join(items[:_SHOWN])
    return f"{shown} + {len(items) - _SHOWN} more..." if len(items) > _SHOWN else shown


def _port_cell(port: Tree) -> str:
    if port.get("port") is not None:
        return str(port["port"])
    name = port.get("name")
    return "*" if name is None else str(name)


def _cells(tree: Tree, now: float) -> list[Any]:
    addresses = [
        address
        for endpoint in tree.get("endpoints") or ()
        for address in endpoint.get("addresses") or ()
    ]
    return [
        checks.name_cell(tree),
        tree.get("addressType") or "",
        _listed([_port_cell(port) for port in tree.get("ports") or ()]),
        _listed(addresses),
        checks.age_cell(tree, now),
    ]


RULES: Final = Rules(
    default=_default,
    prepare_create=_prepare_create,
    prepare_update=_prepare_update,
    validate_create=_validate,
    validate_update=_validate_update,
    warnings=_warnings,
    cells=_cells,
)
DECLARATIONS: Final = {
    "endpointslices.discovery.k8s.io": Declared(generation="custom", rules=RULES)
}

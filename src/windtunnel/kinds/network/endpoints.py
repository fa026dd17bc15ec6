"""Endpoints: the old list of addresses behind a service."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import Any, Final

from windtunnel.kinds.network.address_warnings import one_ip_warnings
from windtunnel.kinds.rules.checks import age_cell, each, name_cell
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import Violation, invalid, not_supported, required

PROTOCOLS: Final = ["SCTP", "TCP", "UDP"]
_SHOWN: Final = 3


def routable_address(value: str, field: str) -> list[Violation]:
    """Judge an address that others must be able to reach."""
    try:
        address = ipaddress.ip_address(value)
    except ValueError:
        return [invalid(field, value, "must be a valid IP address")]
    texts = []
    if address.is_unspecified:
        texts.append(f"may not be unspecified ({value})")
    if address.is_loopback:
        texts.append("may not be in the loopback range (127.0.0.0/8, ::1/128)")
    if address.is_link_local:
        texts.append("may not be in the link-local range (169.254.0.0/16, fe80::/10)")
    if address.is_multicast and str(address).startswith(("224.0.0.", "ff02:")):
        texts.append("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")
    return each(texts, field, value)


def _default(tree: Tree) -> None:
    for subset in tree.get("subsets") or ():
        for port in subset.get("ports") or ():
            port.setdefault("protocol", "TCP")


def _address(address: Tree, field: str) -> list[Violation]:
    value = address.get("ip", "")
    found = each(names.ip_address(value), f"{field}.ip", value)
    if host := address.get("hostname"):
        found += each(names.dns_label(host), f"{field}.hostname", host)
    node = address.get("nodeName")
    if node is not None:
        found += each(names.dns_subdomain(node), f"{field}.nodeName", node)
    return found + routable_address(value, f"{field}.ip")


def _port(port: Tree, named: bool, field: str) -> list[Violation]:
    name, number, protocol = port.get("name", ""), port.get("port", 0), port.get("protocol", "")
    found: list[Violation] = []
    if name:
        found += each(names.dns_label(name), f"{field}.name", name)
    elif named:
        found.append(required(f"{field}.name"))
    found += each(names.port_number(number), f"{field}.port", number)
    if not protocol:
        found.append(required(f"{field}.protocol"))
    elif protocol not in PROTOCOLS:
        found.append(not_supported(f"{field}.protocol", protocol, PROTOCOLS))
    application = port.get("appProtocol")
    if application is not None:
        found += each(names.label_key(application), f"{field}.appProtocol", application)
    return found


def _subsets(subsets: Sequence[Tree]) -> list[Violation]:
    found: list[Violation] = []
    for index, subset in enumerate(subsets):
        where = f"subsets[{index}]"
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            text = "must specify `addresses` or `notReadyAddresses`"
            found.append(required(where, text))
        for part in ("addresses", "notReadyAddresses"):
            for number, address in enumerate(subset.get(part) or ()):
                found += _address(address, f"{where}.{part}[{number}]")
        ports = subset.get("ports") or ()
        for number, port in enumerate(ports):
            found += _port(port, len(ports) > 1, f"{where}.ports[{number}]")
    return found


def _validate(tree: Tree) -> list[Violation]:
    return _subsets(tree.get("subsets") or ())


def _validate_update(new: Tree, old: Tree) -> list[Violation]:
    # What was stored before a rule existed may stay as it is.
    return [] if new.get("subsets") == old.get("subsets") else _validate(new)


def _warnings(new: Tree, old: Tree | None) -> list[str]:
    found: list[str] = []
    for index, subset in enumerate(new.get("subsets") or ()):
        for part in ("addresses", "notReadyAddresses"):
            for number, address in enumerate(subset.get(part) or ()):
                where = f"subsets[{index}].{part}[{number}].ip"
                found += one_ip_warnings(address.get("ip", ""), where)
    return found


def _cells(tree: Tree, now: float) -> list[Any]:
    shown: list[str] = []
    count = 0
    for subset in tree.get("subsets") or ():
        addresses = [address.get("ip", "") for address in subset.get("addresses") or ()]
        ports = subset.get("ports") or ()
        count += len(addresses) * max(len(ports), 1)
        for port in ports or (None,):
            for address in addresses:
                host = f"[{address}]" if ":" in address else address
                shown.append(address if port is None else f"{host}:{port.get('port', 0)}")
    if not tree.get("subsets"):
        text = "<none>"
    else:
        text = ",".join(shown[:_SHOWN])
        if len(shown) > _SHOWN:
            text += f" + {count - _SHOWN} more..."
    return [name_cell(tree), text, age_cell(tree, now)]


DECLARATIONS: Final = {
    "endpoints": Declared(
        creates_on_put=True,
        metadata_judged=(1, 1),
        deprecated="v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
        rules=Rules(
            default=_default,
            validate_create=_validate,
            validate_update=_validate_update,
            warnings=_warnings,
            cells=_cells,
        ),
    )
}

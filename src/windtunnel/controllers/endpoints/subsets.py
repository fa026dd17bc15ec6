"""The subsets of an Endpoints object: addresses by the ports at which they answer."""

from __future__ import annotations

from collections.abc import Iterable

from windtunnel.controllers.endpoints.packing import Group
from windtunnel.machinery.tree import Tree, encode


def subsets_of(groups: Iterable[Group], most: int) -> tuple[list[Tree], bool]:
    """Return the subsets in a stable order, and whether addresses were cut off.

    Args:
        groups: Endpoints by ports; those of the first address type count.
        most: How many addresses there may be in all.
    """
    listed = list(groups)
    family = listed[0].address_type if listed else ""
    subsets: list[Tree] = []
    left = most
    cut = False
    for group in listed:
        if group.address_type != family or not group.endpoints:
            continue
        ordered = sorted(group.endpoints, key=lambda each: (each["addresses"], encode(each)))
        cut = cut or len(ordered) > left
        chosen, left = ordered[:left], max(left - len(ordered), 0)
        subset: Tree = {}
        for name, wanted in (("addresses", True), ("notReadyAddresses", False)):
            addresses = [_address(each) for each in chosen if each["conditions"]["ready"] is wanted]
            if addresses:
                subset[name] = addresses
        if not subset:
            continue
        ports = [_port(port) for port in group.ports or ()]
        if ports:
            subset["ports"] = sorted(ports, key=encode)
        subsets.append(subset)
    subsets.sort(key=lambda subset: encode(subset.get("ports")))
    return subsets, cut


def _address(endpoint: Tree) -> Tree:
    address: Tree = {"ip": endpoint["addresses"][0]}
    for name in ("hostname", "nodeName", "targetRef"):
        if name in endpoint:
            address[name] = endpoint[name]
    return address


def _port(port: Tree) -> Tree:
    tree: Tree = {name: port[name] for name in ("name", "port", "protocol") if port.get(name)}
    if port.get("appProtocol") is not None:
        tree["appProtocol"] = port["appProtocol"]
    return tree

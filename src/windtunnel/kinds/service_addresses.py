"""Addresses of services: which a service needs, which it has, which it gets.

The numbers themselves come from an ``AddressPool`` that knows what is taken; the API server has one
over its store. ``assign`` is called before validation, on a create and on an update alike.
Source: kube-apiserver v1.36 with one IPv4 service range.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, Protocol

from windtunnel.kinds.checks import restore
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import Violation, invalid

HEADLESS: Final = "None"
_FAMILY: Final = "IPv4"
_NOT_DUAL: Final = "this cluster is not configured for dual-stack services"


class AddressPool(Protocol):
    """Hands out what no other service has. Refusals are texts; "" means that it is yours."""

    def next_address(self) -> str:
        """Return a free cluster IP."""

    def claim_address(self, address: str) -> str:
        """Take a particular cluster IP, or say why not."""

    def next_port(self) -> int:
        """Return a free node port."""

    def claim_port(self, port: int) -> str:
        """Take a particular node port, or say why not."""


def is_headless(spec: Mapping[str, Any]) -> bool:
    """Say whether a service has no address of its own, on purpose."""
    return spec.get("clusterIPs") == [HEADLESS] or spec.get("clusterIP") == HEADLESS


def needs_address(spec: Mapping[str, Any]) -> bool:
    """Say whether a service is reached at a cluster IP."""
    return spec.get("type") != "ExternalName"


def needs_node_ports(spec: Mapping[str, Any]) -> bool:
    """Say whether a service is reached at ports of nodes."""
    return spec.get("type") in ("NodePort", "LoadBalancer")


def needs_health_check(spec: Mapping[str, Any]) -> bool:
    """Say whether a load balancer must be able to ask nodes for their health."""
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def is_external(spec: Mapping[str, Any]) -> bool:
    """Say whether a service can be reached from outside the cluster."""
    kind = spec.get("type")
    by_address = kind == "ClusterIP" and bool(spec.get("externalIPs"))
    return kind in ("NodePort", "LoadBalancer") or by_address


def keep_allocated(new: Tree, old: Tree) -> None:
    """Give an update what its writer left out of what was allocated before."""
    ours, theirs = new["spec"], old["spec"]
    if needs_address(ours) and needs_address(theirs):
        for key in ("clusterIP", "clusterIPs"):
            if not ours.get(key) and theirs.get(key):
                ours[key] = theirs[key]
    if needs_node_ports(ours) and needs_node_ports(theirs):
        before = {
            port.get("name", ""): port.get("nodePort", 0) for port in theirs.get("ports") or ()
        }
        used = {port.get("nodePort", 0) for port in ours.get("ports") or ()} & set(before.values())
        for port in ours.get("ports") or ():
            last = before.get(port.get("name", ""), 0)
            if not port.get("nodePort") and last and last not in used:
                port["nodePort"] = last
    if needs_health_check(ours) and needs_health_check(theirs):
        last = theirs.get("healthCheckNodePort")
        if last and not ours.get("healthCheckNodePort"):
            ours["healthCheckNodePort"] = last


def normalize(new: Tree, old: Tree | None) -> None:
    """Bring the one address and the list of addresses in line with each other."""
    spec = new["spec"]
    address, addresses = spec.get("clusterIP") or "", spec.get("clusterIPs") or []
    if old is None:
        if address and not addresses:
            spec["clusterIPs"] = [address]
        return
    before, all_before = old["spec"].get("clusterIP") or "", old["spec"].get("clusterIPs") or []
    if address == before:
        if all_before and not addresses:
            spec["clusterIPs"] = list(all_before)
    elif addresses == all_before:
        if before and not address:
            spec.pop("clusterIPs", None)
        else:
            spec["clusterIPs"] = [address]


def _same(new: Mapping[str, Any], old: Mapping[str, Any], *keys: str) -> bool:
    return all((new.get(key) or None) == (old.get(key) or None) for key in keys)


def drop_dependent(new: Tree, old: Tree) -> None:
    """Forget what belonged to the type that a service had before."""
    ours, theirs = new["spec"], old["spec"]
    if needs_address(theirs) and not needs_address(ours):
        if _same(ours, theirs, "clusterIP", "clusterIPs"):
            ours.pop("clusterIP", None)
            ours.pop("clusterIPs", None)
        for key in ("ipFamilies", "ipFamilyPolicy"):
            if _same(ours, theirs, key):
                ours.pop(key, None)
    if needs_node_ports(theirs) and not needs_node_ports(ours):
        before = {port.get("nodePort") for port in theirs.get("ports") or ()}
        if all(port.get("nodePort") in before | {None} for port in ours.get("ports") or ()):
            for port in ours.get("ports") or ():
                port.pop("nodePort", None)
    gone = (
        ("healthCheckNodePort", needs_health_check(theirs) and not needs_health_check(ours)),
        ("externalTrafficPolicy", is_external(theirs) and not is_external(ours)),
    )
    left = theirs.get("type") == "LoadBalancer" and ours.get("type") != "LoadBalancer"
    for key, gone_now in (
        *gone,
        ("allocateLoadBalancerNodePorts", left),
        ("loadBalancerClass", left),
    ):
        if gone_now and _same(ours, theirs, key):
            ours.pop(key, None)
    if ours.get("type") != "LoadBalancer":
        new["status"] = {"loadBalancer": {}}


def settle_families(new: Tree, old: Tree | None) -> list[Violation]:
    """Set IP families and their policy; return what this one-family cluster cannot give."""
    spec = new["spec"]
    if not needs_address(spec):
        return []
    headless_open = is_headless(spec) and not spec.get("selector")
    if spec.get("ipFamilyPolicy") is None:
        if old is not None and old["spec"].get("ipFamilyPolicy"):
            restore(spec, old["spec"], "ipFamilyPolicy")
        else:
            spec["ipFamilyPolicy"] = "RequireDualStack" if headless_open else "SingleStack"
    policy = spec["ipFamilyPolicy"]
    families, addresses = list(spec.get("ipFamilies") or ()), spec.get("clusterIPs") or []
    found = _single(policy, families, addresses)
    for index, address in enumerate(addresses):
        if address == HEADLESS:
            break
        if index >= len(families):
            if ":" in address:
                text = "IPv6 is not configured on this cluster"
                found.append(invalid(f"spec.clusterIPs[{index}]", addresses, text))
            else:
                families.append(_FAMILY)
    if found:
        return found
    if headless_open:
        families = families or [_FAMILY]
        if len(families) < 2 and policy != "SingleStack":
            families.append("IPv6" if families[0] == _FAMILY else _FAMILY)
        spec["ipFamilies"] = families
        return []
    if policy == "RequireDualStack":
        found.append(invalid("spec.ipFamilyPolicy", policy, _NOT_DUAL))
    found += [
        invalid(f"spec.ipFamilies[{index}]", family, "not configured on this cluster")
        for index, family in enumerate(families)
        if family != _FAMILY
    ]
    if not found:
        spec["ipFamilies"] = families or [_FAMILY]
    return found


def _single(policy: str, families: list[str], addresses: list[str]) -> list[Violation]:
    if policy != "SingleStack":
        return []
    return [
        invalid(
            "spec.ipFamilyPolicy",
            policy,
            f"must be 'RequireDualStack' or 'PreferDualStack' when multiple {what} are specified",
        )
        for what, listed in (("cluster IPs", addresses), ("IP families", families))
        if len(listed) == 2
    ]


def assign(new: Tree, old: Tree | None, pool: AddressPool) -> list[Violation]:
    """Give a service the addresses and ports that it needs and has not; return what cannot be.

    Args:
        new: The service after defaulting; changed in place.
        old: The service as stored, None on a create.
        pool: Who knows what is free. What it hands out is taken only when the write succeeds.
    """
    if old is not None:
        keep_allocated(new, old)
    normalize(new, old)
    if found := settle_families(new, old):
        return found
    spec = new["spec"]
    before: Mapping[str, Any] = old["spec"] if old is not None else {}
    if needs_address(spec) and not is_headless(spec):
        if not spec.get("clusterIP"):
            spec["clusterIP"] = pool.next_address()
            spec["clusterIPs"] = [spec["clusterIP"]]
        elif spec["clusterIP"] != before.get("clusterIP"):
            address = spec["clusterIP"]
            if why := pool.claim_address(address):
                text = f"failed to allocate IP {address}: {why}"
                return [invalid("spec.clusterIPs", spec["clusterIPs"], text)]
    return _ports(spec, before, pool)


def _ports(spec: Tree, before: Mapping[str, Any], pool: AddressPool) -> list[Violation]:
    if needs_node_ports(spec):
        owned = {port.get("nodePort") for port in before.get("ports") or ()}
        wanted = (
            spec["type"] == "NodePort" or spec.get("allocateLoadBalancerNodePorts") is not False
        )
        if found := _node_ports(spec, owned, pool, wanted=wanted):
            return found
    if needs_health_check(spec) and not spec.get("healthCheckNodePort"):
        spec["healthCheckNodePort"] = pool.next_port()
    return []


def _node_ports(
    spec: Tree, owned: Collection[Any], pool: AddressPool, *, wanted: bool
) -> list[Violation]:
    """Give each port its node port; a port number that serves two protocols gets one for both."""
    taken: dict[int, int] = {}
    for index, port in enumerate(spec.get("ports") or ()):
        number, own = port.get("port", 0), port.get("nodePort", 0)
        if not own and not wanted:
            continue
        asked = own or taken.get(number) or _asked(spec, number)
        if not asked:
            asked = pool.next_port()
        elif asked not in owned and taken.get(number) != asked and (why := pool.claim_port(asked)):
            return [invalid(f"spec.ports[{index}].nodePort", asked, why)]
        port["nodePort"] = taken[number] = asked
    return []


def _asked(spec: Tree, number: int) -> int:
    for port in spec.get("ports") or ():
        if port.get("port") == number and port.get("nodePort"):
            return int(port["nodePort"])
    return 0

"""What a service gets before it is judged: cluster addresses, IP families, node ports.

The numbers themselves come from an ``AddressPool`` that knows what is taken; the API server has one
over its store. ``assign`` is called before validation, on a create and on an update alike.
Source: kube-apiserver v1.36 with one IPv4 service range.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, Protocol

from windtunnel.kinds.network.service_address_rules import validate_cluster_addresses
from windtunnel.kinds.network.service_addresses import (
    HEADLESS,
    is_headless,
    keep_allocated,
    needs_address,
    needs_health_check,
    needs_node_ports,
    normalize,
)
from windtunnel.kinds.rules.checks import restore
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import Violation, invalid

_FAMILY: Final = "IPv4"
_NOT_DUAL: Final = "this cluster is not configured for dual-stack services"


class AddressPool(Protocol):
    """Hands out what no service has, nor this one already. Refusals are texts; "" is yes."""

    def next_address(self) -> str:
        """Return a free cluster IP."""

    def claim_address(self, address: str) -> str:
        """Take a particular cluster IP, or say why not."""

    def next_port(self) -> int:
        """Return a free node port."""

    def claim_port(self, port: int) -> str:
        """Take a particular node port, or say why not."""


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
    before: Mapping[str, Any] = old["spec"] if old is not None else {}
    if wrong := validate_cluster_addresses(spec, before):
        return wrong
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

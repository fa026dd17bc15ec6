"""Gives services their cluster addresses and node ports, and keeps track of which are taken.

Source: defaults of kube-apiserver v1.36 with one IPv4 range; the first address belongs to the
service ``kubernetes``.
"""

from __future__ import annotations

import ipaddress
from typing import Final

from windtunnel.apiserver.call import Attempt
from windtunnel.kinds.kind import Kind
from windtunnel.machinery.errors import InternalError, Invalid
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import invalid
from windtunnel.store import Store, Version

_FIRST_PORT, _LAST_PORT = 30000, 32767
_HEADLESS: Final = "None"
_EXTERNAL: Final = "ExternalName"
_PORT_TYPES: Final = ("NodePort", "LoadBalancer")


class ServiceAddresses:
    """An admission plugin that allocates for services."""

    def __init__(self, store: Store, service_range: str) -> None:
        self._network = ipaddress.ip_network(service_range)
        self._taken: dict[str, tuple[str, str]] = {}
        self._ports: dict[int, tuple[str, str]] = {}
        self._next = 1
        self._next_port = _FIRST_PORT
        for version in store.list("services"):
            self._hold(version)
        store.subscribe("services", self._follow)

    def _follow(self, version: Version) -> None:
        owner = tuple(version.key)
        for held in (self._taken, self._ports):
            for item in [item for item, holder in held.items() if holder == owner]:
                del held[item]  # type: ignore[arg-type]
        if version.type != "DELETED":
            self._hold(version)

    def _hold(self, version: Version) -> None:
        spec = dig(version.tree(), "spec") or {}
        owner = (version.key.namespace, version.key.name)
        for address in spec.get("clusterIPs") or ():
            if address != _HEADLESS:
                self._taken[address] = owner
        for port in spec.get("ports") or ():
            if port.get("nodePort"):
                self._ports[port["nodePort"]] = owner
        if spec.get("healthCheckNodePort"):
            self._ports[spec["healthCheckNodePort"]] = owner

    def concerns(self, operation: str, kind: Kind, subresource: str) -> bool:
        """Creates and updates of services."""
        return kind.resource == "services" and operation != "DELETE" and not subresource

    def mutate(self, attempt: Attempt) -> None:
        """Allocation waits until the service is known to be sound."""

    def judge(self, attempt: Attempt) -> None:
        """Allocate what the service needs and does not have."""
        if attempt.new is None:
            return
        spec = attempt.new.setdefault("spec", {})
        type_ = spec.get("type") or "ClusterIP"
        before = dig(attempt.old, "spec") or {}
        if type_ != _EXTERNAL:
            self._give_address(attempt, spec, before)
        if type_ in _PORT_TYPES and spec.get("allocateLoadBalancerNodePorts") is not False:
            self._give_ports(attempt, spec, before)

    def _give_address(self, attempt: Attempt, spec: Tree, before: Tree) -> None:
        if not spec.get("clusterIP") and before.get("clusterIP"):
            spec["clusterIP"], spec["clusterIPs"] = before["clusterIP"], before.get("clusterIPs")
        address = spec.get("clusterIP") or ""
        if address == _HEADLESS:
            spec.setdefault("clusterIPs", [_HEADLESS])
        elif not address:
            address = attempt.call.mint("cluster-ip", self._free_address)
            spec["clusterIP"], spec["clusterIPs"] = address, [address]
        elif address != before.get("clusterIP"):
            self._claim(attempt, address)
            spec.setdefault("clusterIPs", [address])
        spec.setdefault("ipFamilies", ["IPv4"])
        spec.setdefault("ipFamilyPolicy", "SingleStack")

    def _claim(self, attempt: Attempt, address: str) -> None:
        owner = (attempt.namespace, attempt.name)
        why = ""
        try:
            inside = ipaddress.ip_address(address) in self._network
        except ValueError:
            inside = False
        if not inside:
            why = (
                "failed to allocate IP "
                f"{address}: the provided network does not match the current range"
            )
        elif self._taken.get(address, owner) != owner:
            why = f"failed to allocate IP {address}: provided IP is already allocated"
        if why:
            raise Invalid("Service", "", attempt.name, [invalid("spec.clusterIPs", [address], why)])

    def _free_address(self) -> str:
        size = self._network.num_addresses - 2
        for offset in range(size):
            index = 1 + (self._next - 1 + offset) % size
            address = str(self._network[index])
            # The first address is the API server's own service.
            if index > 1 and address not in self._taken:
                self._next = index + 1
                return address
        raise InternalError(
            "Internal error occurred: failed to allocate a serviceIP: range is full"
        )

    def _give_ports(self, attempt: Attempt, spec: Tree, before: Tree) -> None:
        had = {
            (port.get("protocol"), port.get("port")): port.get("nodePort")
            for port in before.get("ports") or ()
        }
        for index, port in enumerate(spec.get("ports") or ()):
            given = port.get("nodePort") or had.get((port.get("protocol"), port.get("port")))
            if given:
                self._claim_port(attempt, index, given)
                port["nodePort"] = given
            else:
                port["nodePort"] = attempt.call.mint(f"node-port-{index}", self._free_port)

    def _claim_port(self, attempt: Attempt, index: int, port: int) -> None:
        owner = (attempt.namespace, attempt.name)
        why = ""
        if not _FIRST_PORT <= port <= _LAST_PORT:
            why = (
                "provided port is not in the valid range. The range of valid ports is "
                f"{_FIRST_PORT}-{_LAST_PORT}"
            )
        elif self._ports.get(port, owner) != owner:
            why = "provided port is already allocated"
        if why:
            field = f"spec.ports[{index}].nodePort"
            raise Invalid("Service", "", attempt.name, [invalid(field, port, why)])

    def _free_port(self) -> int:
        size = _LAST_PORT - _FIRST_PORT + 1
        for offset in range(size):
            port = _FIRST_PORT + (self._next_port - _FIRST_PORT + offset) % size
            if port not in self._ports:
                self._next_port = port + 1
                return port
        raise InternalError("Internal error occurred: failed to allocate a nodePort: range is full")

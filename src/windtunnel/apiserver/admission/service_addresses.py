"""Gives services their cluster addresses and node ports, and keeps track of which are taken.

The first address of the range belongs to the service ``kubernetes``. What is handed out counts as
taken once the service is stored.
"""

from __future__ import annotations

import ipaddress
from typing import Final

from windtunnel.kinds.network.service_addresses import HEADLESS
from windtunnel.kinds.network.service_allocation import assign
from windtunnel.machinery.admission import Act, Petition
from windtunnel.machinery.errors import InternalError, Invalid
from windtunnel.machinery.tree import Key, dig
from windtunnel.store import Store, Version

_FIRST_PORT: Final = 30000
_LAST_PORT: Final = 32767


class _Taken:
    """Who holds which addresses and ports."""

    def __init__(self, store: Store, service_range: str) -> None:
        self.network = ipaddress.ip_network(service_range)
        self.addresses: dict[str, Key] = {}
        self.ports: dict[int, Key] = {}
        self.next_address = 2
        self.next_port = _FIRST_PORT
        for version in store.list("services"):
            self._hold(version)
        store.subscribe("services", self._follow)

    def _follow(self, version: Version) -> None:
        self.addresses = {a: key for a, key in self.addresses.items() if key != version.key}
        self.ports = {port: key for port, key in self.ports.items() if key != version.key}
        if version.type != "DELETED":
            self._hold(version)

    def _hold(self, version: Version) -> None:
        spec = dig(version.tree(), "spec") or {}
        for address in spec.get("clusterIPs") or ():
            if address != HEADLESS:
                self.addresses[address] = version.key
        for port in spec.get("ports") or ():
            if port.get("nodePort"):
                self.ports[port["nodePort"]] = version.key
        if spec.get("healthCheckNodePort"):
            self.ports[spec["healthCheckNodePort"]] = version.key


class _Pool:
    """What is free for one service in one request: an ``AddressPool``."""

    def __init__(self, taken: _Taken, petition: Petition) -> None:
        self._taken, self._petition = taken, petition
        self._owner = Key(petition.namespace, petition.name)
        self._handed: set[int] = set()

    def next_address(self) -> str:
        """Return a free cluster IP."""
        address: str = self._petition.once("cluster-ip", self._free_address)
        return address

    def _free_address(self) -> str:
        taken = self._taken
        size = taken.network.num_addresses - 3
        for offset in range(size):
            index = 2 + (taken.next_address - 2 + offset) % size
            address = str(taken.network[index])
            if address not in taken.addresses:
                taken.next_address = index + 1
                return address
        raise InternalError("failed to allocate a serviceIP: range is full")

    def claim_address(self, address: str) -> str:
        """Take a particular cluster IP, or say why not."""
        network = self._taken.network
        try:
            inside = ipaddress.ip_address(address) in network
        except ValueError:
            inside = False
        if not inside:
            return (
                f"the provided IP ({address}) is not in the valid range. The range of valid IPs is "
                f"{network}"
            )
        if self._taken.addresses.get(address, self._owner) != self._owner:
            return "provided IP is already allocated"
        return ""

    def next_port(self) -> int:
        """Return a free node port."""
        purpose = f"node-port-{len(self._handed)}"
        port: int = self._petition.once(purpose, self._free_port)
        self._handed.add(port)
        return port

    def _free_port(self) -> int:
        taken = self._taken
        size = _LAST_PORT - _FIRST_PORT + 1
        for offset in range(size):
            port = _FIRST_PORT + (taken.next_port - _FIRST_PORT + offset) % size
            if port not in taken.ports and port not in self._handed:
                taken.next_port = port + 1
                return port
        raise InternalError("failed to allocate a nodePort: range is full")

    def claim_port(self, port: int) -> str:
        """Take a particular node port, or say why not."""
        if not _FIRST_PORT <= port <= _LAST_PORT:
            return (
                "provided port is not in the valid range. The range of valid ports is "
                f"{_FIRST_PORT}-{_LAST_PORT}"
            )
        if self._taken.ports.get(port, self._owner) != self._owner:
            return "provided port is already allocated"
        self._handed.add(port)
        return ""


class _Pretence:
    """What a service gets in a dry run: nothing is taken, so nothing is looked up either."""

    def __init__(self, taken: _Taken) -> None:
        self._address = str(taken.network[0])
        self._last_port = _LAST_PORT + 1

    def next_address(self) -> str:
        """Return an address that stands for any."""
        return self._address

    def claim_address(self, _: str) -> str:
        """Let any address pass."""
        return ""

    def next_port(self) -> int:
        """Return a port that stands for any; no two of a service are the same."""
        self._last_port += 1
        return self._last_port

    def claim_port(self, port: int) -> str:
        """Let any port pass."""
        self._last_port = max(self._last_port, port)
        return ""


class ServiceAddresses:
    """Allocates for services before they are validated."""

    def __init__(self, store: Store, service_range: str) -> None:
        self._taken = _Taken(store, service_range)

    def concerns(self, act: Act) -> bool:
        """Creates and updates of services."""
        return act.resource == "services" and act.operation != "DELETE" and not act.subresource

    def mutate(self, petition: Petition) -> None:
        """Give the service what it needs and does not have."""
        if petition.new is None:
            return
        petition.new.setdefault("spec", {})
        pool = _Pretence(self._taken) if petition.dry_run else _Pool(self._taken, petition)
        violations = assign(petition.new, petition.old, pool)
        if violations:
            raise Invalid("Service", "", petition.name, violations)

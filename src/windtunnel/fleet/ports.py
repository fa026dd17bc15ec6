"""Host ports in use, by port, so that a pod without host ports costs nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from windtunnel.fleet.shape import HostPort

ANY_ADDRESS = "0.0.0.0"


def conflict(left: str, right: str) -> bool:
    """Say whether two addresses of the same protocol and port collide."""
    return left == right or ANY_ADDRESS in (left, right)


class PortsInUse:
    """Counts of (protocol, port) by node and address."""

    def __init__(self) -> None:
        self._uses: dict[tuple[str, int], dict[str, Counter[str]]] = {}

    def move(self, node: str, ports: Iterable[HostPort], by: int) -> None:
        """Count a pod's ports in or out of a node."""
        for address, protocol, port in ports:
            nodes = self._uses.setdefault((protocol, port), {})
            addresses = nodes.setdefault(node, Counter())
            addresses[address] += by
            if not addresses[address]:
                del addresses[address]
            if not addresses:
                del nodes[node]

    def nodes_in_conflict(self, ports: Iterable[HostPort]) -> Iterator[str]:
        """Yield nodes where one of ``ports`` is taken."""
        for address, protocol, port in ports:
            for node, addresses in self._uses.get((protocol, port), {}).items():
                if any(conflict(address, taken) for taken in addresses):
                    yield node

"""Which addresses the pods of a node have: those of a network that no other node here serves.

Pods share the machine's network: a pod's address 10.42.x.y is served at 127.42.x.y, and loopback is
shared by all clusters of the machine. So each cluster claims one network of many by listening where
nobody else of us does; the claim ends with its process, whatever ends it. Services have the same
addresses in every cluster, but are served beside the network that was claimed. A node that comes
back takes the network that it had, since what containers were told of services is written down.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from windtunnel.errors import ClusterError

_FIRST: Final = 42
"""k3s's network."""
_PREFERRED: Final = range(_FIRST, 96)
_SERVICES: Final = 96
"""Where the services of the first network are served; those of others follow theirs."""
_SERVICES_BEYOND: Final = 100
_DOOR: Final = 42042
_SHOWN: Final = "10."
"""What the addresses begin with that the API shows."""
_SERVED: Final = "127."


@dataclass(frozen=True, slots=True)
class Network:
    """A network that is claimed, by us where we hold its door."""

    number: int
    door: socket.socket | None = None

    @property
    def pod_cidr(self) -> str:
        """Return where the addresses of pods come from."""
        return f"10.{self.number}.0.0/24"

    @property
    def services(self) -> str:
        """Return the beginning of the addresses at which services are served."""
        beyond = self.number + _SERVICES_BEYOND
        return f"127.{_SERVICES if self.number == _FIRST else beyond}."

    def release(self) -> None:
        """Let somebody else have it."""
        if self.door is not None:
            self.door.close()


def claim_again(memory: Path) -> Network:
    """Return the network that a node had, else the first that is free; ``memory`` keeps which.

    Raises:
        ClusterError: every one is taken.
    """
    numbers = [*_PREFERRED]
    with suppress(OSError, ValueError):
        known = int(memory.read_text())
        numbers.sort(key=lambda number: number != known)
    network = claim_network(numbers)
    with suppress(OSError):
        memory.write_text(str(network.number))
    return network


def claim_network(numbers: Iterable[int]) -> Network:
    """Return the first network that is free on this machine.

    Raises:
        ClusterError: every one is taken.
    """
    for number in numbers:
        door = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            door.bind((f"127.{number}.255.254", _DOOR))
            door.listen(1)
        except OSError:
            door.close()
        else:
            return Network(number, door)
    raise ClusterError("every network for pods is taken by nodes of other clusters on this machine")


def served_at(address: str) -> str:
    """Return where on this machine something listens that the API shows at an address."""
    if address.startswith(_SHOWN):
        return _SERVED + address.removeprefix(_SHOWN)
    return address

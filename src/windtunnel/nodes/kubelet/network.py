"""Which addresses the pods of a node have: those of a network that no other node here serves.

Pods share the machine's network: a pod's address 10.42.x.y is served at 127.42.x.y, and loopback is
shared by all clusters of the machine. So a node claims one network of many by listening where
nobody else of us does; the claim ends with the process, whatever ends it.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from windtunnel.errors import ClusterError

_PREFERRED: Final = (42, *range(43, 96), *range(97, 200))
"""k3s's network first; 96 is where services are."""
_DOOR: Final = 42042


@dataclass(frozen=True, slots=True)
class Network:
    """A claimed network."""

    number: int
    door: socket.socket

    @property
    def pod_cidr(self) -> str:
        """Return where the addresses of pods come from."""
        return f"10.{self.number}.0.0/24"

    def release(self) -> None:
        """Let somebody else have it."""
        self.door.close()


def claim_network(numbers: Iterable[int] = _PREFERRED) -> Network:
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

"""Sandboxes: what holds a pod together while its containers come and go, above all its address.

They belong to the runtime's side of the node: a kubelet that starts again finds them standing, with
the addresses that the pods had. When the whole node goes down they are gone, as the containers are.
"""

from __future__ import annotations

from dataclasses import dataclass

from windtunnel.nodes.addresses import Addresses


@dataclass(slots=True)
class Sandbox:
    """One pod's sandbox."""

    uid: str
    address: str
    """Empty on the host's network."""
    created_at: float
    """Containers that were made before belong to an earlier one."""
    stands: bool = True


class Sandboxes:
    """The sandboxes of one node.

    Args:
        cidr: Where pod addresses come from.
    """

    def __init__(self, cidr: str) -> None:
        self._addresses = Addresses(cidr)
        self._sandboxes: dict[str, Sandbox] = {}

    def get(self, uid: str) -> Sandbox | None:
        """Return the pod's sandbox, standing or not."""
        return self._sandboxes.get(uid)

    def standing(self, uid: str) -> Sandbox | None:
        """Return the pod's sandbox if it stands."""
        found = self._sandboxes.get(uid)
        return found if found is not None and found.stands else None

    def make(self, uid: str, now: float, *, host_network: bool) -> Sandbox:
        """Make a pod's sandbox, with an address that no other pod has.

        Raises:
            ValueError: every address is taken.
        """
        address = "" if host_network else self._addresses.give(uid)
        self._sandboxes[uid] = made = Sandbox(uid, address, now)
        return made

    def begin_anew(self, uid: str, now: float) -> None:
        """Count the containers that were made until now as history."""
        found = self._sandboxes.get(uid)
        if found is not None:
            found.created_at = now

    def stop(self, uid: str) -> None:
        """Take a sandbox down; its address is free for others."""
        found = self._sandboxes.get(uid)
        if found is not None:
            found.stands = False
            self._addresses.free(uid)

    def forget(self, uid: str) -> None:
        """Remove every trace of a pod's sandbox."""
        self.stop(uid)
        self._sandboxes.pop(uid, None)

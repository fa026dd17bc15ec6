"""The shape of a controller: a reconciler that also says when to visit what."""

from __future__ import annotations

from typing import Any, Protocol

from windtunnel.client import Client
from windtunnel.kernel import Result, WorkQueue
from windtunnel.machinery.errors import NotFound
from windtunnel.machinery.tree import Key, Tree


class Controller(Protocol):
    """Brings one named thing in line, and queues keys as things change."""

    name: str

    def attach(self, queue: WorkQueue[Any]) -> None:
        """Queue what exists, and from now on whatever a change concerns."""

    def reconcile(self, key: Any) -> Result:
        """Visit one key."""


def write_status(client: Client, resource: str, key: Key, status: Tree) -> None:
    """Write the named fields of a status (None takes one away); nothing if the object is gone."""
    try:
        client.patch(resource, key, {"status": status}, subresource="status")
    except NotFound:
        return


def unless_zero(number: int) -> int | None:
    """Return the number, or None for 0: many counters are absent instead of zero."""
    return number or None

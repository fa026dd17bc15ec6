"""The client protocol: what any part may ask of an API server.

All calls are synchronous. Refusals are ``machinery.errors.ApiError``; a write that must wait for a
webhook raises ``kernel.Parked``. A tree that is returned belongs to the caller. A resource is named
by its plural and group, ``"pods"`` or ``"deployments.apps"`` (``Kind.resource``); the client speaks
the kind's preferred version unless the resource names one (``"leases.coordination.k8s.io/v1"``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from windtunnel.client.served import Served
from windtunnel.machinery.change import Change as Change
from windtunnel.machinery.change import ChangeType as ChangeType
from windtunnel.machinery.tree import Key, Tree

Deliver = Callable[[Change], None]
"""Takes a change. It may update its own state and queue keys; it must not write to the API."""


class Write(Struct, frozen=True):
    """One write of ``Client.write_many``."""

    verb: Literal["create", "update", "update_status", "patch", "patch_status", "bind", "delete"]
    resource: str
    key: Key
    body: Tree
    """The object, the patch (merge or strategic by kind), the Binding, or DeleteOptions."""


class Client(Protocol):
    """Talks to one API server as one user with one field manager."""

    def served(self) -> Sequence[Served]:
        """Return every resource in every version that is served now, preferred versions first."""

    def get(self, resource: str, key: Key) -> Tree | None:
        """Return the object, or None where there is none."""

    def list(
        self, resource: str, namespace: str = "", label_selector: str = "", field_selector: str = ""
    ) -> list[Tree]:
        """Return matching objects in key order."""

    def create(self, resource: str, tree: Tree) -> Tree:
        """Create the object named in its metadata and return it as stored."""

    def update(self, resource: str, tree: Tree, *, subresource: str = "") -> Tree:
        """Replace the object or a subresource (the resourceVersion, if given, must be current)."""

    def update_status(self, resource: str, tree: Tree) -> Tree:
        """Replace the object's status."""

    def patch(
        self,
        resource: str,
        key: Key,
        patch: Tree,
        *,
        subresource: str = "",
        strategic: bool = False,
    ) -> Tree:
        """Merge-patch (or strategic-merge-patch) the object or a subresource."""

    def apply(self, resource: str, tree: Tree, *, manager: str = "", force: bool = False) -> Tree:
        """Server-side apply as ``manager`` (this client's own by default)."""

    def delete(
        self,
        resource: str,
        key: Key,
        *,
        uid: str = "",
        grace_seconds: int | None = None,
        propagation: str = "",
    ) -> None:
        """Delete the object; ``uid``, where given, must match. Missing objects raise NotFound."""

    def bind(self, key: Key, node: str, uid: str = "") -> None:
        """Bind a pod to a node."""

    def evict(self, key: Key) -> None:
        """Evict a pod, honouring disruption budgets (TooManyRequests where they forbid it)."""

    def write_many(
        self, writes: Sequence[Write], *, in_order: bool = True
    ) -> Iterable[Exception | None]:
        """Do many writes at once; one outcome a write, in order. None of them stops the rest.

        Where they need not be done ``in_order``, they may be done all at the same time.
        """

    def watch(
        self, resource: str, deliver: Deliver, *, namespace: str = "", field_selector: str = ""
    ) -> Callable[[], None]:
        """Deliver what exists (ADDED), SYNCED, then every change in order; returns how to stop.

        In-process delivery happens inside the write, before the writer's call returns. Over HTTP a
        thread reads and ``kernel.Loop.post`` hands over; a lost watch is resumed or, when history
        is gone, relisted (then a DELETED is delivered for what vanished).
        """

"""Who owns whom, over all resources: the ground that garbage collection stands on.

One narrow watch a resource, but for those that controllers keep a cache of: no change is decoded
twice. Of each object only identity, owners and how its deletion proceeds are kept. Events are left
out: they belong to nobody and own nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import msgspec

from windtunnel.client import Change, ChangeType, Client
from windtunnel.client.cache import Cache
from windtunnel.controllers.resources import Resource, Resources
from windtunnel.controllers.views import Metadata, OwnerReference
from windtunnel.machinery.change import ViewReader
from windtunnel.machinery.tree import Key

FOREGROUND: Final = "foregroundDeletion"
ORPHAN: Final = "orphan"
_EVENTS: Final = "events"


class _Metadata(msgspec.Struct, rename="camel", gc=False):
    uid: str = ""
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()
    deletion_timestamp: str | None = None


class _Body(msgspec.Struct, gc=False):
    metadata: _Metadata


_Standing = tuple[tuple[OwnerReference, ...], bool, bool, bool]

_bodies: Final[ViewReader[_Body]] = ViewReader(_Body)


@dataclass(frozen=True, slots=True)
class Node:
    """One object."""

    uid: str
    resource: str
    key: Key
    owners: tuple[OwnerReference, ...]
    deleting: bool
    foreground: bool
    """It is being deleted and waits for its dependents to go first."""
    orphans: bool
    """It is being deleted and lets its dependents live."""

    @property
    def standing(self) -> _Standing:
        """Owners, and how deletion proceeds: all that can change."""
        return self.owners, self.deleting, self.foreground, self.orphans

    def blocks(self, owner: str) -> bool:
        """Whether the owner of this uid must wait for this object to go."""
        return any(each.uid == owner and each.block_owner_deletion for each in self.owners)


Tell = Callable[[ChangeType, Node, Node | None], None]
"""(change, object, its state before)"""


class Graph:
    """All objects by uid, with their dependents.

    Args:
        client: Watches what has no cache.
        resources: Says what there is.
        caches: Caches of whole resources, by resource; their views have metadata.
    """

    def __init__(
        self, client: Client, resources: Resources, caches: Mapping[str, Cache[Any]]
    ) -> None:
        self._client, self._resources, self._caches = client, resources, caches
        self._nodes: dict[str, Node] = {}
        self._dependents: dict[str, dict[str, None]] = {}
        self._listeners: list[Tell] = []
        self._stops: dict[str, Callable[[], None]] = {}

    def start(self) -> None:
        """Begin to watch everything."""
        self._resources.on_change(self._resource_changed)

    def stop(self) -> None:
        """Watch nothing any more."""
        for stop in self._stops.values():
            stop()
        self._stops.clear()

    def on_change(self, tell: Tell) -> None:
        """Tell of every change from now on; register before ``start``."""
        self._listeners.append(tell)

    def get(self, uid: str) -> Node | None:
        """Return the object of this uid, or None."""
        return self._nodes.get(uid)

    def dependents(self, uid: str) -> list[Node]:
        """Return the objects that name this uid among their owners."""
        return [self._nodes[each] for each in self._dependents.get(uid, ())]

    def has_dependents(self, uid: str) -> bool:
        """Whether anything names this uid among its owners."""
        return bool(self._dependents.get(uid))

    def forget(self, uid: str) -> None:
        """Drop an object that turned out to be gone, as if it had been seen going."""
        node = self._nodes.get(uid)
        if node is not None:
            self._remove(node)

    def _resource_changed(self, resource: Resource, there: bool) -> None:
        if resource.name == _EVENTS:
            return
        if there and resource.name not in self._stops:
            deliver = partial(self._deliver, resource.name)
            self._stops[resource.name] = lambda: None
            cache = self._caches.get(resource.name)
            if cache is not None:
                cache.on_change(partial(self._cached, resource.name))
                return
            self._stops[resource.name] = self._client.watch(resource.name, deliver)
        elif not there and resource.name in self._stops:
            self._stops.pop(resource.name)()
            for node in [each for each in self._nodes.values() if each.resource == resource.name]:
                self._remove(node)

    def _deliver(self, resource: str, change: Change) -> None:
        if change.type == "SYNCED":
            return
        metadata = _bodies.read(change).metadata
        if change.type == "DELETED":
            self.forget(metadata.uid)
        else:
            self._observe(resource, change.type, change.key, metadata)

    def _cached(self, resource: str, key: Key, before: Any, after: Any) -> None:
        if before is not None and (after is None or after.metadata.uid != before.metadata.uid):
            self.forget(before.metadata.uid)
            before = None
        if after is not None:
            self._observe(resource, "MODIFIED" if before else "ADDED", key, after.metadata)

    def _observe(
        self, resource: str, type_: ChangeType, key: Key, metadata: _Metadata | Metadata
    ) -> None:
        before = self._nodes.get(metadata.uid)
        deleting = metadata.deletion_timestamp is not None
        standing = (
            metadata.owner_references,
            deleting,
            deleting and FOREGROUND in metadata.finalizers,
            deleting and ORPHAN in metadata.finalizers,
        )
        if before is not None and before.standing == standing:
            node = before
        else:
            node = Node(metadata.uid, resource, key, *standing)
            self._nodes[node.uid] = node
            self._link(node, before.owners if before is not None else ())
        for tell in self._listeners:
            tell(type_, node, before)

    def _link(self, node: Node, before: Iterable[OwnerReference]) -> None:
        old = {reference.uid for reference in before}
        new = {reference.uid for reference in node.owners}
        for uid in sorted(old - new):
            self._unlink(uid, node.uid)
        for uid in sorted(new - old):
            self._dependents.setdefault(uid, {})[node.uid] = None

    def _unlink(self, owner: str, uid: str) -> None:
        dependents = self._dependents.get(owner)
        if dependents is not None:
            dependents.pop(uid, None)
            if not dependents:
                del self._dependents[owner]

    def _remove(self, node: Node) -> None:
        del self._nodes[node.uid]
        for reference in node.owners:
            self._unlink(reference.uid, node.uid)
        for tell in self._listeners:
            tell("DELETED", node, node)

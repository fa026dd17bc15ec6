"""A cache: the present state of one resource as typed views, kept by a watch.

A view is a small ``msgspec.Struct`` that names only the fields its readers need, so that a change
of a pod costs one narrow decode however large the pod is. Reconcilers read here and write through
the client; in-process the watch delivers inside the write, so a cache is never behind its writer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

import msgspec

from windtunnel.client.protocol import Change, Client
from windtunnel.machinery.change import ViewReader
from windtunnel.machinery.tree import Key

V = TypeVar("V", bound=msgspec.Struct)

Index = Callable[[Key, V], tuple[str, ...]]
"""Names the values under which a view is found."""

Notify = Callable[[Key, V | None, V | None], None]
"""(key, before, after): None before for what appears, None after for what goes. Must not write."""


class Cache(Generic[V]):
    """Views of one resource by key, with indices.

    Args:
        client: Whom to watch.
        resource: What to watch.
        view: The Struct each object is decoded into.
        indices: Functions that name the values a view is found under with ``by``.
        namespace: Watch only this namespace.
        field_selector: Watch only what matches.
    """

    def __init__(
        self,
        client: Client,
        resource: str,
        view: type[V],
        *,
        indices: Mapping[str, Index[V]] | None = None,
        namespace: str = "",
        field_selector: str = "",
    ) -> None:
        self.resource = resource
        self.synced = False
        self._client = client
        self._namespace, self._field_selector = namespace, field_selector
        self._reader: ViewReader[V] = ViewReader(view)
        self._views: dict[Key, V] = {}
        self._found: dict[str, dict[str, dict[Key, None]]] = {name: {} for name in indices or {}}
        self._indices = [(self._found[name], index) for name, index in (indices or {}).items()]
        self._listeners: list[Notify[V]] = []
        self._when_synced: list[Callable[[], None]] = []
        self._stop: Callable[[], None] | None = None

    def __len__(self) -> int:
        return len(self._views)

    def start(self) -> None:
        """Begin to watch; a second call does nothing."""
        if self._stop is None:
            self._stop = self._client.watch(
                self.resource,
                self._deliver,
                namespace=self._namespace,
                field_selector=self._field_selector,
            )

    def stop(self) -> None:
        """Watch no longer; what is cached stays."""
        if self._stop is not None:
            self._stop()
            self._stop = None

    def get(self, key: Key) -> V | None:
        """Return the view of one object, or None."""
        return self._views.get(key)

    def entries(self, namespace: str = "") -> Iterator[tuple[Key, V]]:
        """Yield everything, or everything of one namespace, in order of appearance."""
        for key, view in list(self._views.items()):
            if not namespace or key.namespace == namespace:
                yield key, view

    def by(self, index: str, value: str) -> list[tuple[Key, V]]:
        """Return what an index finds under ``value``, in order of appearance there."""
        return [(key, self._views[key]) for key in self._found[index].get(value, ())]

    def count(self, index: str, value: str) -> int:
        """Return how much an index finds under ``value``."""
        return len(self._found[index].get(value, ()))

    def values(self, index: str) -> list[str]:
        """Return every value under which an index finds something."""
        return list(self._found[index])

    def on_change(self, notify: Notify[V]) -> None:
        """Tell ``notify`` of everything there is, and from now on of every change."""
        self._listeners.append(notify)
        for key, view in list(self._views.items()):
            notify(key, None, view)

    def when_synced(self, call: Callable[[], None]) -> None:
        """Call once, as soon as everything that existed at the start is here."""
        if self.synced:
            call()
        else:
            self._when_synced.append(call)

    def _deliver(self, change: Change) -> None:
        if change.type == "SYNCED":
            self.synced = True
            waiting, self._when_synced = self._when_synced, []
            for call in waiting:
                call()
            return
        key = change.key
        before = self._views.get(key)
        after: V | None = None
        if change.type == "DELETED":
            if before is None:
                return
            del self._views[key]
        else:
            after = self._reader.read(change)
            self._views[key] = after
        for found, index in self._indices:
            old = () if before is None else index(key, before)
            new = () if after is None else index(key, after)
            if old != new:
                _move(found, key, old, new)
        for notify in self._listeners:
            notify(key, before, after)


def _move(
    found: dict[str, dict[Key, None]], key: Key, old: tuple[str, ...], new: tuple[str, ...]
) -> None:
    """Find a key under ``new`` values instead of ``old`` ones."""
    for value in old:
        if value not in new:
            keys = found[value]
            del keys[key]
            if not keys:
                del found[value]
    for value in new:
        found.setdefault(value, {})[key] = None

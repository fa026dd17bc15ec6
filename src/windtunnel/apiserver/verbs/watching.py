"""Watches: what exists, then every change, as frames that the edge sends when they are durable.

A frame is encoded once and shared by all watchers of the same kind in the same form. An object
that leaves the selection is DELETED for the watcher, one that enters is ADDED.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Final

from windtunnel.apiserver.call import Call
from windtunnel.apiserver.forms.options import ListOptions, list_options, revision
from windtunnel.apiserver.forms.rendering import (
    COMMON_HEADERS,
    Tables,
    included,
    metadata_only,
    warning_headers,
)
from windtunnel.apiserver.forms.selection import Selection, select
from windtunnel.apiserver.request import Frame
from windtunnel.apiserver.verbs.objects import Objects, dump
from windtunnel.apiserver.verbs.reading import FromTheFuture
from windtunnel.kernel import Clock
from windtunnel.kinds import Kind
from windtunnel.machinery.errors import Expired
from windtunnel.machinery.tree import Tree, encode
from windtunnel.store import HistoryGone, Store, Version

_SHORTEST_SECONDS: Final = 1800
_SHARED_FRAMES: Final = 4096
_SHARED_BYTES: Final = 64 * 1024 * 1024
_END_OF_INITIAL: Final = "k8s.io/initial-events-end"


def _event(type_: str, body: bytes) -> bytes:
    return b'{"type":"%s","object":%s}\n' % (type_.encode(), body)


class Frames:
    """Encoded changes, kept while watchers may still want them."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._made: dict[tuple[int, str, str, str, str], bytes] = {}
        self._size = 0

    def of(self, kind: Kind, version: Version, type_: str, revision: int) -> bytes:
        """Return the event of a change; ``revision`` is what the object must carry."""
        key = (version.revision, type_, kind.api_version, kind.plural, str(revision))
        made = self._made.get(key)
        if made is None:
            if len(self._made) >= _SHARED_FRAMES or self._size > _SHARED_BYTES:
                self._made.clear()
                self._size = 0
            made = self._made[key] = _event(type_, self._body(kind, version, revision))
            self._size += len(made)
        return made

    def _body(self, kind: Kind, version: Version, revision: int) -> bytes:
        if version.revision == revision:
            return self._objects.json(kind, version)
        tree = self._objects.tree(kind, version)
        tree["metadata"]["resourceVersion"] = str(revision)
        return dump(kind, tree)


class Watch:
    """One watch (a ``Stream``): opened once by the edge, fed inside every write."""

    def __init__(
        self,
        store: Store,
        objects: Objects,
        frames: Frames,
        tables: Tables,
        call: Call,
        options: ListOptions,
        selection: Selection,
        clock: Clock,
    ) -> None:
        self._store, self._objects = store, objects
        self._frames, self._tables = frames, tables
        self._kind, self._form, self._options = call.kind, call.form, options
        self._selection, self._namespace = selection, call.namespace
        self._include = included(call.request.parameter("includeObject"))
        self._clock = clock
        self._columns_sent = False
        self._deliver: Callable[[Frame], None] | None = None
        self._stop: Callable[[], None] | None = None
        self.content_type = call.form.media
        self.headers = [*COMMON_HEADERS, *warning_headers(call.warnings)]
        self.timeout_seconds = float(
            options.timeout_seconds or _SHORTEST_SECONDS + secrets.randbelow(_SHORTEST_SECONDS)
        )

    def open(self, deliver: Callable[[Frame], None]) -> None:
        """Deliver what is due now, then every change."""
        self._deliver = deliver
        wanted = revision(self._options.resource_version)
        starts_from_now = self._options.resource_version in ("", "0")
        initial = self._options.initial_events
        if initial or (starts_from_now and initial is None):
            if wanted > self._store.revision:
                self._fail(FromTheFuture(wanted, self._store.revision).to_status())
                return
            self._send_present()
        elif not starts_from_now:
            try:
                missed = self._store.since(self._kind.store, wanted, self._namespace)
            except HistoryGone as gone:
                self._fail(
                    Expired(f"too old resource version: {wanted} ({gone.oldest})").to_status()
                )
                return
            for version in missed:
                self._change(version)
        self._stop = self._store.subscribe(self._kind.store, self._change)

    def close(self) -> None:
        """Deliver nothing any more."""
        self._deliver = None
        if self._stop is not None:
            self._stop()
            self._stop = None

    def bookmark(self, revision: int) -> Frame | None:
        """Return a bookmark, where the client wants them."""
        if not self._options.bookmarks:
            return None
        return self._bookmark(revision, {"resourceVersion": str(revision)})

    def _bookmark(self, revision: int, metadata: Tree) -> Frame:
        tree: Tree = {
            "kind": self._kind.kind,
            "apiVersion": self._kind.api_version,
            "metadata": metadata,
        }
        if self._form.as_kind == "Table":
            tree = self._table([tree], metadata)
        elif self._form.as_kind:
            tree = metadata_only(self._kind, tree, self._form.as_version)
        return Frame(revision, _event("BOOKMARK", encode(tree)))

    def _send(self, frame: Frame) -> None:
        if self._deliver is not None:
            self._deliver(frame)

    def _fail(self, status: Tree) -> None:
        self._send(Frame(0, _event("ERROR", encode(status)), last=True))

    def _send_present(self) -> None:
        current = self._store.revision
        for version in self._store.list(self._kind.store, self._namespace):
            if self._selection.matches(version):
                self._emit("ADDED", version, version.revision)
        unasked = self._options.initial_events is None and not self._options.resource_version
        if self._options.bookmarks and (self._options.initial_events or unasked):
            metadata = {"resourceVersion": str(current), "annotations": {_END_OF_INITIAL: "true"}}
            self._send(self._bookmark(current, metadata))

    def _change(self, version: Version) -> None:
        if self._namespace and version.key.namespace != self._namespace:
            return
        if self._selection.empty:
            self._emit(version.type, version, version.revision)
            return
        before = version.previous
        was = before is not None and self._selection.matches(before)
        if version.type == "DELETED":
            if was or (before is None and self._selection.matches(version)):
                self._emit("DELETED", version, version.revision)
        elif self._selection.matches(version):
            self._emit("MODIFIED" if was else "ADDED", version, version.revision)
        elif was and before is not None:
            self._emit("DELETED", before, version.revision)

    def _emit(self, type_: str, version: Version, revision: int) -> None:
        if not self._form.as_kind:
            self._send(Frame(revision, self._frames.of(self._kind, version, type_, revision)))
            return
        tree = self._objects.tree(self._kind, version)
        metadata = {"resourceVersion": str(revision)}
        tree["metadata"].update(metadata)
        shown = (
            self._table([tree], metadata)
            if self._form.as_kind == "Table"
            else metadata_only(self._kind, tree, self._form.as_version)
        )
        self._send(Frame(revision, _event(type_, encode(shown))))

    def _table(self, trees: list[Tree], metadata: Tree) -> Tree:
        first, self._columns_sent = not self._columns_sent, True
        table = self._tables.table(
            self._kind,
            trees,
            self._form,
            metadata=metadata,
            include=self._include,
            now=self._clock.now(),
            with_columns=first,
        )
        if not first:
            table["columnDefinitions"] = None
        return table


class Watching:
    """Admits watches."""

    def __init__(self, objects: Objects, tables: Tables, clock: Clock) -> None:
        self._objects, self._tables, self._clock = objects, tables, clock
        self._frames = Frames(objects)

    def watch(self, call: Call) -> Watch:
        """Return the watch that a request asks for.

        Raises:
            ApiError: Its options or selectors are refused.
        """
        options = list_options(call.request.query, watch=True)
        revision(options.resource_version)
        field_selector = options.field_selector
        if call.route.name and "metadata.name" not in field_selector:
            named = f"metadata.name={call.route.name}"
            field_selector = f"{field_selector},{named}" if field_selector else named
        selection = select(self._objects, call.kind, options.label_selector, field_selector)
        return Watch(
            self._objects.store,
            self._objects,
            self._frames,
            self._tables,
            call,
            options,
            selection,
            self._clock,
        )

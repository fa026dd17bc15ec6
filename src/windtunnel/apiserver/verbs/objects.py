"""Objects of any kind in the store: trees in, trees or bytes out.

What is stored are the bytes that clients get. A kind whose objects share a store with another form
(Events, versions of a custom resource) converts on the way; all others never decode to be read.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from windtunnel.apiserver.verbs.metadata import ordered
from windtunnel.kinds import Catalogue, Kind
from windtunnel.machinery.errors import MODIFIED, Conflict, InternalError
from windtunnel.machinery.tree import Key, Tree, decode, encode
from windtunnel.store import Stale, Store, Version

_LARGEST: Final = 1_572_864
"""What etcd takes in one request."""
_sorted_encoder = msgspec.json.Encoder(order="sorted")


class _TooLargeForStore(InternalError):
    reason = ""


def conflict(kind: Kind, name: str) -> Conflict:
    """Return the error for a write that lost against another."""
    return Conflict.of(kind.plural, kind.group, name, MODIFIED)


def dump(kind: Kind, tree: Tree) -> bytes:
    """Return the JSON of an object as this kind is written: fields in order, or sorted."""
    if kind.custom:
        return _sorted_encoder.encode(tree)
    return encode(tree)


def shaped(tree: Tree) -> Tree:
    """Return the object with kind, apiVersion and metadata first, in the API's order."""
    found: Tree = {
        "kind": tree["kind"],
        "apiVersion": tree["apiVersion"],
        "metadata": ordered(tree.get("metadata") or {}),
    }
    for field, value in tree.items():
        if field not in found:
            found[field] = value
    return found


def touch(store: Store, version: Version, tree: Tree) -> Version:
    """Store an object whose name, labels, owners and selectable fields stay as they are.

    Args:
        store: Where it is kept.
        version: What was read; ``tree`` was made of it.
        tree: The object in its stored form; its resourceVersion is set in place.

    Raises:
        Stale: Another write was faster.
    """
    metadata: dict[str, Any] = tree["metadata"]

    def body(revision: int) -> bytes:
        metadata["resourceVersion"] = str(revision)
        return encode(tree)

    return store.put(
        version.resource,
        version.key,
        body=body,
        expected=version.revision,
        uid=version.uid,
        labels=version.labels,
        fields=version.fields,
    )


def _require_own_head(kind: Kind, key: Key, tree: Tree) -> None:
    """Let nothing be stored under a kind or name that it does not bear: lists are cut by it.

    Raises:
        InternalError: A rule before this one has failed.
    """
    metadata = tree["metadata"]
    if (
        tree["kind"] != kind.kind
        or tree["apiVersion"] != kind.api_version
        or metadata["name"] != key.name
        or metadata["uid"].__class__ is not str
    ):
        raise InternalError(
            f"Internal error occurred: {kind.resource} {key} was not stored, for what was made of "
            "it has another kind or name"
        )


class Objects:
    """Reads and writes the objects of kinds; knows no rules."""

    def __init__(self, store: Store, catalogue: Catalogue) -> None:
        self.store = store
        self.at_hand: Tree | None = None
        """What is being stored, in its stored form; None where only its JSON is known."""
        self._catalogue = catalogue

    def find(self, kind: Kind, key: Key) -> Version | None:
        """Return the object's present version."""
        return self.store.get(kind.store, key)

    def tree(self, kind: Kind, version: Version) -> Tree:
        """Return the object in the form of this kind; the caller owns it."""
        tree: Tree = decode(version.body)
        return tree if kind.from_stored is None else kind.from_stored(tree)

    def json(self, kind: Kind, version: Version) -> bytes:
        """Return the object's JSON in the form of this kind."""
        if kind.from_stored is None:
            return version.body
        return dump(kind, self.tree(kind, version))

    def fields(self, kind: Kind, version: Version) -> dict[str, str]:
        """Return the values that field selectors of this kind know."""
        if kind.from_stored is None:
            return version.fields
        return kind.rules.selectable(self.tree(kind, version))

    def put(self, kind: Kind, key: Key, tree: Tree, expected: int) -> Version:
        """Store an object; its metadata.resourceVersion is set in place.

        Args:
            kind: In whose form ``tree`` is.
            key: Names it.
            tree: The object; must not be changed by the caller until the next decode.
            expected: The revision that was read, 0 for a create.

        Raises:
            Conflict: Another write was faster.
            InternalError: The object is too large, or not what it is stored as.
        """
        _require_own_head(kind, key, tree)
        if kind.to_stored is None:
            home, stored = kind, tree
        else:
            home = self._catalogue.by_resource(kind.store)
            stored = kind.to_stored(tree)
        metadata: dict[str, Any] = stored["metadata"]

        def body(revision: int) -> bytes:
            metadata["resourceVersion"] = str(revision)
            made = dump(home, stored)
            if len(made) > _LARGEST:
                raise _TooLargeForStore("etcdserver: request is too large")
            return made

        self.at_hand = stored
        try:
            version = self.store.put(
                kind.store,
                key,
                body=body,
                expected=expected,
                uid=metadata["uid"],
                labels=metadata.get("labels") or {},
                fields=home.rules.selectable(stored),
            )
        except Stale:
            raise conflict(kind, key.name) from None
        finally:
            self.at_hand = None
        tree["metadata"]["resourceVersion"] = str(version.revision)
        return version

    def remove(self, kind: Kind, version: Version, last: Tree | None = None) -> Version:
        """Delete an object.

        Args:
            kind: In whose form ``last`` is.
            version: The version that was read.
            last: The last state, where it differs from ``version``.

        Raises:
            Conflict: Another write was faster.
        """
        make = None
        if last is not None:
            stored = last if kind.to_stored is None else kind.to_stored(last)

            def make(revision: int) -> bytes:
                stored["metadata"]["resourceVersion"] = str(revision)
                return dump(kind, stored)

        try:
            return self.store.remove(kind.store, version.key, expected=version.revision, body=make)
        except Stale:
            raise conflict(kind, version.key.name) from None

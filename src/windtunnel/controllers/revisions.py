"""ControllerRevisions: the templates that a DaemonSet or StatefulSet has had, for going back.

A revision holds a strategic patch that puts its template back; ``kubectl rollout undo`` sends it as
it is. The same template finds its revision again, which then gets the newest number. Source:
history of controllers of Kubernetes v1.36.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Final

import msgspec

from windtunnel.client import Client
from windtunnel.client.cache import Cache
from windtunnel.controllers.ownership import claim, owner_reference, selector_of
from windtunnel.controllers.template_hash import template_hash
from windtunnel.controllers.views import Metadata, Selector, View, template_of
from windtunnel.machinery.errors import AlreadyExists, NotFound
from windtunnel.machinery.tree import Key, Tree, decode, encode

RESOURCE: Final = "controllerrevisions.apps"
REVISION_HASH: Final = "controller-revision-hash"
"""The label by which a pod says of which revision it is."""


class RevisionView(View, frozen=True):
    """A ControllerRevision."""

    metadata: Metadata
    revision: int = 0
    data: msgspec.Raw = msgspec.Raw(b"{}")


@dataclass(frozen=True, slots=True)
class History:
    """The revisions of one owner, smallest number first."""

    present: RevisionView
    """That of the owner's template."""
    all: tuple[RevisionView, ...]
    collisions: int | None
    """How often a new revision's name was taken."""


def template_in(revision: RevisionView) -> Tree:
    """Return the template that a revision puts back; the caller owns it."""
    template: Tree = _decoded(revision)["spec"]["template"]
    template.pop("$patch", None)
    return template


class Revisions:
    """Keeps the revisions of one kind of owner.

    Args:
        client: Writes them.
        cache: All revisions, indexed by "owner" and "orphans".
        kind: The owners' kind, of group apps.
        hash_label: The label that holds the hash.
    """

    def __init__(
        self, client: Client, cache: Cache[RevisionView], kind: str, hash_label: str
    ) -> None:
        self._client, self._cache = client, cache
        self._kind, self._hash_label = kind, hash_label

    def settle(
        self,
        owner: Metadata,
        selector: Selector,
        template: msgspec.Raw,
        collisions: int | None,
    ) -> History:
        """Find or make the revision of the owner's template, and number it the newest."""
        found = self._claim(owner, selector)
        wanted = _patch_of(template)
        same = [each for each in found if _decoded(each) == wanted]
        if not same:
            made, collisions = self._make(owner, wanted, _next_number(found), collisions)
            return History(made, (*found, made), collisions)
        present = same[-1]
        others = [each for each in found if each is not present]
        number = _next_number(others)
        if present.revision < number:
            key = Key(owner.namespace, present.metadata.name)
            self._client.patch(RESOURCE, key, {"revision": number})
            present = msgspec.structs.replace(present, revision=number)
        return History(present, (*others, present), collisions)

    def trim(self, history: History, live: Collection[str], limit: int) -> None:
        """Delete the oldest revisions beyond the limit, but none whose name is ``live``."""
        idle = [each for each in history.all if each.metadata.name not in live]
        for revision in idle[: max(len(idle) - limit, 0)]:
            metadata = revision.metadata
            key = Key(metadata.namespace, metadata.name)
            try:
                self._client.delete(RESOURCE, key, uid=metadata.uid)
            except NotFound:
                continue

    def _claim(self, owner: Metadata, selector: Selector) -> list[RevisionView]:
        found = dict(self._cache.by("owner", owner.uid))
        found.update(self._cache.by("orphans", owner.namespace))
        ours = claim(
            self._client,
            RESOURCE,
            ((key, revision.metadata) for key, revision in found.items()),
            owner_reference("apps/v1", self._kind, owner),
            owner.deleting,
            selector_of(selector).matches,
        )
        return sorted(
            (found[key] for key in ours),
            key=lambda each: (
                each.revision,
                each.metadata.creation_timestamp,
                each.metadata.name,
            ),
        )

    def _make(
        self, owner: Metadata, patch: Tree, number: int, collisions: int | None
    ) -> tuple[RevisionView, int | None]:
        """Create a revision; a name that another one holds gives way to the next hash."""
        while True:
            tree = self._tree(owner, patch, number, template_hash(patch, collisions))
            key = Key(owner.namespace, tree["metadata"]["name"])
            try:
                return _view(self._client.create(RESOURCE, tree)), collisions
            except AlreadyExists:
                present = self._client.get(RESOURCE, key)
            if present is None:
                continue
            taken = _view(present)
            controller = taken.metadata.controller
            if controller and controller.uid == owner.uid and present.get("data") == patch:
                return taken, collisions
            collisions = (collisions or 0) + 1

    def _tree(self, owner: Metadata, patch: Tree, number: int, digest: str) -> Tree:
        labels = (patch["spec"]["template"].get("metadata") or {}).get("labels") or {}
        return {
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": {
                "name": f"{owner.name}-{digest}",
                "namespace": owner.namespace,
                "labels": {**labels, self._hash_label: digest},
                "annotations": dict(owner.annotations),
                "ownerReferences": [owner_reference("apps/v1", self._kind, owner)],
            },
            "data": deepcopy(patch),
            "revision": number,
        }


def _next_number(revisions: Sequence[RevisionView]) -> int:
    return 1 + max((each.revision for each in revisions), default=0)


def _patch_of(template: msgspec.Raw) -> Tree:
    return {"spec": {"template": {**template_of(template), "$patch": "replace"}}}


def _decoded(revision: RevisionView) -> Tree:
    tree: Tree = decode(bytes(revision.data))
    return tree


def _view(tree: Tree) -> RevisionView:
    return msgspec.json.decode(encode(tree), type=RevisionView)

"""Who belongs to whom: adopting, releasing, and following pods to their owners.

An object without a controller that matches an owner's selector is adopted; one of ours that matches
no more is released; one of another controller is never touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from windtunnel.client import Client
from windtunnel.client.cache import Cache
from windtunnel.controllers.expectations import Expectations
from windtunnel.controllers.views import Metadata, OwnerReference, PodView, Selector
from windtunnel.machinery.errors import NotFound
from windtunnel.machinery.selectors import LabelSelector
from windtunnel.machinery.tree import Key, Tree


def owner_reference(api_version: str, kind: str, metadata: Metadata) -> Tree:
    """Return the reference by which ``metadata``'s object manages another."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": metadata.name,
        "uid": metadata.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def selector_of(selector: Selector) -> LabelSelector:
    """Return the selector to match labels with."""
    return LabelSelector.from_tree(
        {
            "matchLabels": selector.match_labels,
            "matchExpressions": list(selector.match_expressions),
        }
    )


def claim(
    client: Client,
    resource: str,
    candidates: Iterable[tuple[Key, Metadata]],
    owner: Tree,
    owner_deleting: bool,
    matches: Callable[[Mapping[str, str]], bool],
) -> list[Key]:
    """Adopt what matches and belongs to nobody, release what is ours and matches no more.

    Args:
        client: Who writes.
        resource: What the candidates are.
        candidates: Objects managed by nobody or by ``owner``.
        owner: The reference that an adopted object gets.
        owner_deleting: A deleted owner adopts and releases nothing.
        matches: The owner's selector.

    Returns:
        What belongs to the owner now.
    """
    ours: list[Key] = []
    for key, metadata in candidates:
        controller = metadata.controller
        if controller is not None:
            if controller.uid != owner["uid"]:
                continue
            if matches(metadata.labels):
                ours.append(key)
            elif not owner_deleting:
                _release(client, resource, key, metadata, owner["uid"])
        elif (
            not owner_deleting
            and not metadata.deleting
            and matches(metadata.labels)
            and _adopt(client, resource, key, metadata, owner)
        ):
            ours.append(key)
    return ours


def _adopt(client: Client, resource: str, key: Key, metadata: Metadata, owner: Tree) -> bool:
    references = [*map(reference_tree, metadata.owner_references), owner]
    patch = {"metadata": {"uid": metadata.uid, "ownerReferences": references}}
    try:
        client.patch(resource, key, patch)
    except NotFound:
        return False
    return True


def _release(client: Client, resource: str, key: Key, metadata: Metadata, uid: str) -> None:
    kept = [reference_tree(each) for each in metadata.owner_references if each.uid != uid]
    patch = {"metadata": {"uid": metadata.uid, "ownerReferences": kept or None}}
    try:
        client.patch(resource, key, patch)
    except NotFound:
        return


def reference_tree(reference: OwnerReference) -> Tree:
    """Return a reference as the API writes it."""
    tree: Tree = {
        "apiVersion": reference.api_version,
        "kind": reference.kind,
        "name": reference.name,
        "uid": reference.uid,
    }
    if reference.controller:
        tree["controller"] = True
    if reference.block_owner_deletion:
        tree["blockOwnerDeletion"] = True
    return tree


class PodOwnership:
    """How the owners of one kind come to their pods.

    Args:
        client: Writes the references.
        pods: All pods, indexed by "owner" and "orphans".
        owners: All owners of the kind, indexed by "namespace"; each has a selector in its spec.
        api_version: The version in which references name the kind.
        kind: The kind.
    """

    def __init__(
        self,
        client: Client,
        pods: Cache[PodView],
        owners: Cache[Any],
        api_version: str,
        kind: str,
    ) -> None:
        self._client, self._pods, self._owners = client, pods, owners
        self._api_version, self.kind = api_version, kind

    @property
    def group(self) -> str:
        """The API group of the kind."""
        return self._api_version.rpartition("/")[0]

    def reference(self, owner: Metadata) -> Tree:
        """Return the reference that makes an object the owner's."""
        return owner_reference(self._api_version, self.kind, owner)

    def claim(
        self,
        owner: Metadata,
        selector: Selector,
        adoptable: Callable[[str], bool] = lambda name: True,
    ) -> list[PodView]:
        """Return the pods of an owner, having adopted and released what had to be.

        Args:
            owner: The owner's metadata.
            selector: The owner's selector.
            adoptable: Whether a pod of this name may be adopted.
        """
        found = dict(self._pods.by("owner", owner.uid))
        orphans = self._pods.by("orphans", owner.namespace)
        found.update(each for each in orphans if adoptable(each[0].name))
        candidates = ((key, pod.metadata) for key, pod in found.items())
        matches = selector_of(selector).matches
        reference = self.reference(owner)
        ours = claim(self._client, "pods", candidates, reference, owner.deleting, matches)
        return [found[key] for key in ours]

    def adopters(self, key: Key, pod: PodView) -> Iterable[Key]:
        """Yield the owners that could adopt a pod without controller."""
        for name, owner in self._owners.by("namespace", key.namespace):
            if selector_of(owner.spec.selector).matches(pod.metadata.labels):
                yield name


def _looks_alike(before: PodView | None, after: PodView) -> bool:
    """Whether those who adopt pods see no other pod than before: they go by labels."""
    return before is not None and before.metadata.labels == after.metadata.labels


@dataclass(frozen=True, slots=True)
class _Follower:
    """Who wants to know of the pods of one kind of owner."""

    ownership: PodOwnership
    expectations: Expectations
    visit: Callable[[Key], None]


class PodOwners:
    """Visits owners when one of their pods comes, changes or goes.

    One listener for all kinds of owners: a change of a pod costs the same however many there are.
    """

    def __init__(self, pods: Cache[PodView]) -> None:
        self._pods = pods
        self._followers: dict[tuple[str, str], _Follower] = {}

    def follow(
        self,
        ownership: PodOwnership,
        expectations: Expectations,
        visit: Callable[[Key], None],
    ) -> None:
        """Visit the owners of one kind from now on, all that have pods to begin with.

        Args:
            ownership: Of which kind, and who of it could adopt a pod.
            expectations: Told of pods that came and went.
            visit: Queues an owner.
        """
        first = not self._followers
        kind = ownership.kind, ownership.group
        self._followers[kind] = _Follower(ownership, expectations, visit)
        if first:
            self._pods.on_change(self._changed)
            return
        for key, pod in self._pods.entries():
            self._changed(key, None, pod)

    def _changed(self, key: Key, before: PodView | None, after: PodView | None) -> None:
        left = before.metadata.controller if before is not None else None
        owner = after.metadata.controller if after is not None else None
        same = left is not None and owner is not None and left.uid == owner.uid
        going = after is not None and after.metadata.deleting
        if left is not None and before is not None and (going or not same):
            self._leave(key, left, before, visit=not same)
        if owner is not None:
            follower = self._followers.get((owner.kind, owner.group))
            if follower is not None:
                name = Key(key.namespace, owner.name)
                if before is None:
                    follower.expectations.created(name)
                follower.visit(name)
        elif after is not None and (left is not None or not _looks_alike(before, after)):
            for follower in self._followers.values():
                for adopter in follower.ownership.adopters(key, after):
                    follower.visit(adopter)

    def _leave(self, key: Key, left: OwnerReference, pod: PodView, *, visit: bool) -> None:
        follower = self._followers.get((left.kind, left.group))
        if follower is not None:
            name = Key(key.namespace, left.name)
            follower.expectations.deleted(name, pod.metadata.uid)
            if visit:
                follower.visit(name)

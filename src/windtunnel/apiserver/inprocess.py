"""The API server without HTTP, for our own parts: a ``client.Client`` over the core.

Its writes skip validation, for our own parts write sound objects; they are admitted, owned and
stored like anybody's. A write that has to ask a webhook is parked (``parking``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from windtunnel.apiserver.access.authentication import AUTHENTICATED, MASTERS
from windtunnel.apiserver.call import Call
from windtunnel.apiserver.core import Core
from windtunnel.apiserver.forms.negotiation import Form
from windtunnel.apiserver.forms.options import DeleteOptions
from windtunnel.apiserver.forms.selection import Selection, select
from windtunnel.apiserver.parking import Parking, StartAsk
from windtunnel.apiserver.routes import Route
from windtunnel.apiserver.verbs.patching import STATUS_FIELDS
from windtunnel.apiserver.verbs.validation import (
    settle,
    settle_patched,
    settle_written_status,
    with_own_status,
)
from windtunnel.apiserver.verbs.writing import Written
from windtunnel.client import Change, ChangeType, Deliver, Served, Write
from windtunnel.errors import BrokenInvariant
from windtunnel.kernel import Parked
from windtunnel.kinds import Kind
from windtunnel.machinery.admission import User
from windtunnel.machinery.errors import ApiError, NotFound
from windtunnel.machinery.patches import merge_patch, strategic_patch
from windtunnel.machinery.tree import Key, Tree, key_of
from windtunnel.store import Version

_PLAIN: Final = Form()


class LocalClient:
    """Speaks to the core as one user with one field manager."""

    def __init__(
        self, core: Core, user: str, manager: str, *, asks: StartAsk | None = None
    ) -> None:
        """Make a client.

        Args:
            core: The API.
            user: Whom webhooks and field ownership name; one of the masters.
            manager: The field manager.
            asks: Calls webhooks; None: none can be called, and theirs fail.
        """
        self._core = core
        self._user = User(user, (MASTERS, AUTHENTICATED))
        self._manager = manager
        self._parking = Parking(asks)
        self._kinds: dict[str, tuple[int, Kind]] = {}

    def served(self) -> Sequence[Served]:
        """Return every resource in every version that is served now, preferred versions first."""
        return [
            Served(
                kind.resource,
                kind.api_version,
                kind.kind,
                kind.namespaced,
                frozenset(kind.verbs),
                "scale" in kind.subresources,
            )
            for versions in self._core.catalogue.groups().values()
            for kinds in versions.values()
            for kind in kinds
        ]

    def get(self, resource: str, key: Key) -> Tree | None:
        """Return the object, or None where there is none."""
        kind = self._kind(resource)
        version = self._core.objects.find(kind, key)
        return None if version is None else self._core.objects.tree(kind, version)

    def list(
        self, resource: str, namespace: str = "", label_selector: str = "", field_selector: str = ""
    ) -> list[Tree]:
        """Return matching objects in key order."""
        kind, objects = self._kind(resource), self._core.objects
        selection = select(objects, kind, label_selector, field_selector)
        return [
            objects.tree(kind, version)
            for version in self._core.store.list(kind.store, namespace)
            if selection.matches(version)
        ]

    def watch(
        self, resource: str, deliver: Deliver, *, namespace: str = "", field_selector: str = ""
    ) -> Callable[[], None]:
        """Deliver what exists, SYNCED, then every change; returns how to stop."""
        kind, objects = self._kind(resource), self._core.objects
        store = self._core.store
        selection = select(objects, kind, "", field_selector)

        def tell(change: Change) -> None:
            try:
                deliver(change)
            except Exception as bug:
                # Whoever ends because of it can name what could not be followed.
                bug.add_note(f"{resource} {change.key}".rstrip())
                raise

        for version in store.list(kind.store, namespace):
            if selection.matches(version):
                body = objects.json(kind, version)
                tell(Change("ADDED", version.key, version.revision, body))
        tell(Change("SYNCED", Key("", ""), store.revision, b""))
        shared = self._core.changes

        def changed(version: Version) -> None:
            tell(shared.of(kind, version))

        def changed_here(version: Version) -> None:
            if namespace and version.key.namespace != namespace:
                return
            found = _seen(selection, version)
            if found is not None:
                body = objects.json(kind, found[1])
                tell(Change(found[0], version.key, version.revision, body))

        narrow = namespace or not selection.empty
        return store.subscribe(kind.store, changed_here if narrow else changed)

    def create(self, resource: str, tree: Tree) -> Tree:
        """Create the object named in its metadata and return it as stored."""
        key = key_of(tree)
        kind = self._kind(resource)
        tree.setdefault("kind", kind.kind)
        tree.setdefault("apiVersion", kind.api_version)
        written: Written = self._write(
            kind, "create", key, lambda call: self._core.writing.create(call, tree, options={})
        )
        return written.tree

    def update(self, resource: str, tree: Tree, *, subresource: str = "") -> Tree:
        """Replace the object or a subresource (the resourceVersion, if given, must be current)."""
        return self._update(resource, tree, subresource)

    def update_status(self, resource: str, tree: Tree) -> Tree:
        """Replace the object's status."""
        return self._update(resource, tree, "status")

    def _update(self, resource: str, tree: Tree, subresource: str) -> Tree:
        kind = self._kind(resource)
        if subresource == "status" and not kind.custom:
            return self._change(
                kind, key_of(tree), _with_status_of(kind, tree), "status", "update", shared=True
            )
        settle(kind, tree)
        return self._change(kind, key_of(tree), lambda _: tree, subresource, "update")

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
        kind = self._kind(resource)
        shared = subresource == "status" and not kind.custom and patch.keys() <= STATUS_FIELDS

        def change(old: Tree) -> Tree:
            if strategic and not kind.custom:
                new = strategic_patch(old, patch, kind.structure())
            else:
                new = merge_patch(old, patch)
            if shared:
                new = with_own_status(new)
                settle_written_status(kind, new, old)
            else:
                settle_patched(kind, new, patch)
            return new

        return self._change(kind, key, change, subresource, "patch", shared=shared)

    def apply(self, resource: str, tree: Tree, *, manager: str = "", force: bool = False) -> Tree:
        """Server-side apply as ``manager`` (this client's own by default)."""
        kind, key = self._kind(resource), key_of(tree)

        def write(call: Call) -> Written:
            call.manager = manager or self._manager
            return self._core.patching.apply(call, tree, force=force)

        written: Written = self._write(kind, "patch", key, write)
        return written.tree

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
        kind, core = self._kind(resource), self._core
        options = DeleteOptions(grace_seconds, propagation or None, uid=uid)

        def write(call: Call) -> None:
            version = core.objects.find(kind, key)
            if version is None:
                raise NotFound.of(kind.plural, kind.group, key.name)
            core.deleting.delete(call, version, options)

        self._write(kind, "delete", key, write)

    def bind(self, key: Key, node: str, uid: str = "") -> None:
        """Bind a pod to a node."""
        self._core.binding.bind(key, node, now=self._core.clock.now(), uid=uid)

    def evict(self, key: Key) -> None:
        """Evict a pod, honouring disruption budgets."""
        self._write(self._kind("pods"), "create", key, self._core.evicting.evict, "eviction")

    def write_many(
        self, writes: Sequence[Write], *, in_order: bool = True
    ) -> Iterable[Exception | None]:
        """Do many writes at once; one outcome a write, in order. None of them stops the rest."""
        outcomes: list[Exception | None] = []
        for write in writes:
            try:
                self._one(write)
            except BrokenInvariant:
                raise
            except (ApiError, Parked) as refusal:
                outcomes.append(refusal)
            else:
                outcomes.append(None)
        return outcomes

    def _one(self, write: Write) -> None:
        resource, key, body = write.resource, write.key, write.body
        match write.verb:
            case "create":
                self.create(resource, body)
            case "update":
                self.update(resource, body)
            case "update_status":
                self.update_status(resource, body)
            case "patch":
                self.patch(resource, key, body, strategic=True)
            case "patch_status":
                self.patch(resource, key, body, subresource="status", strategic=True)
            case "bind":
                target, metadata = body.get("target") or {}, body.get("metadata") or {}
                self.bind(key, target.get("name") or "", metadata.get("uid") or "")
            case "delete":
                preconditions = body.get("preconditions") or {}
                self.delete(
                    resource,
                    key,
                    uid=preconditions.get("uid") or "",
                    grace_seconds=body.get("gracePeriodSeconds"),
                    propagation=body.get("propagationPolicy") or "",
                )

    def _kind(self, resource: str) -> Kind:
        generation = self._core.catalogue.generation
        known = self._kinds.get(resource)
        if known is not None and known[0] == generation:
            return known[1]
        try:
            kind = self._core.catalogue.by_resource(resource)
        except KeyError:
            raise NotFound.resource() from None
        self._kinds[resource] = (generation, kind)
        return kind

    def _change(
        self,
        kind: Kind,
        key: Key,
        change: Callable[[Tree], Tree],
        subresource: str,
        verb: str,
        *,
        shared: bool = False,
    ) -> Tree:
        written: Written = self._write(
            kind,
            verb,
            key,
            lambda call: self._core.writing.update(
                call, change, options={}, subresource=subresource, shared=shared
            ),
            subresource,
        )
        return written.tree

    def _write(
        self,
        kind: Kind,
        verb: str,
        key: Key,
        write: Callable[[Call], Any],
        subresource: str = "",
    ) -> Any:
        core = self._core
        place = (verb, kind.resource, key, subresource)
        request = self._parking.request(place)
        now: float = request.memo.setdefault("now", core.clock.now())
        route = Route(
            "", verb, True, kind.group, kind.version, key.namespace, kind.plural, key.name,
            subresource,
        )  # fmt: skip
        call = Call(
            request, route, self._user, kind, now, core.mint, _PLAIN, self._manager, trusted=True
        )
        try:
            return self._parking.run(place, request, lambda: write(call))
        finally:
            if core.customs.pending:
                core.settle()


def _with_status_of(kind: Kind, tree: Tree) -> Callable[[Tree], Tree]:
    """Return the change that gives the present object the metadata and status of ``tree``."""

    def change(old: Tree) -> Tree:
        new = {**old, "metadata": tree.get("metadata") or {}, "status": tree.get("status") or {}}
        new = with_own_status(new)
        settle_written_status(kind, new, old)
        return new

    return change


def _seen(selection: Selection, version: Version) -> tuple[ChangeType, Version] | None:
    """Return what a change is to somebody who sees only the selected objects."""
    before = version.previous
    was = before is not None and selection.matches(before)
    if version.type == "DELETED":
        return ("DELETED", version) if was else None
    if selection.matches(version):
        return ("MODIFIED" if was else "ADDED"), version
    if was and before is not None:
        return "DELETED", before
    return None

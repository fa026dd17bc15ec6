"""Creates and updates: default, admit, prepare, validate, store, in the real server's order.

Nothing else runs between reading an object and storing its successor, so a write never has to be
tried again; only where a webhook is asked does the request begin anew, with the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from windtunnel.apiserver.admission import Chain
from windtunnel.apiserver.call import Call
from windtunnel.apiserver.subresources.parts import Part, part_of
from windtunnel.apiserver.verbs.metadata import keep_system_fields
from windtunnel.apiserver.verbs.objects import Objects, conflict, shaped
from windtunnel.apiserver.verbs.ownership import own_create, own_update, unchanged
from windtunnel.apiserver.verbs.validation import nameless, set_defaults, settle, settle_status
from windtunnel.kinds import Context, Kind
from windtunnel.kinds.rules.metadata import validate_metadata_create, validate_metadata_update
from windtunnel.machinery.errors import (
    AlreadyExists,
    BadRequest,
    Conflict,
    InternalError,
    Invalid,
    NotFound,
)
from windtunnel.machinery.tree import Key, Tree
from windtunnel.machinery.violations import invalid
from windtunnel.store import Version

_WRONG_NAMESPACE: Final = (
    "the namespace of the provided object does not match the namespace sent on the request"
)


class _Unreadable(InternalError):
    """The real server fails on these without a reason."""

    reason = ""


@dataclass(frozen=True, slots=True)
class Written:
    """What came of a write: the object, and the stored version unless it was a dry run."""

    tree: Tree
    version: Version | None
    created: bool = False
    removed: bool = False
    """The write took away the last finalizer, and the object with it."""


Edit = Callable[[Tree], Tree]
"""Makes the wanted object from the present one, which it may consume."""


def place(call: Call, tree: Tree) -> Tree:
    """Put the path's namespace into an object and return its metadata.

    Raises:
        BadRequest: The object names another namespace.
    """
    metadata = tree.get("metadata")
    if not isinstance(metadata, dict):
        metadata = tree["metadata"] = {}
    require_namespace(call, metadata)
    if call.kind.namespaced:
        metadata["namespace"] = call.namespace
    else:
        metadata.pop("namespace", None)
    return metadata


def require_namespace(call: Call, metadata: Tree) -> None:
    """Refuse an object that names another namespace than the path.

    Raises:
        BadRequest: It does.
    """
    namespace = metadata.get("namespace") or ""
    if call.kind.namespaced and namespace not in ("", call.namespace):
        raise BadRequest(_WRONG_NAMESPACE)


def require_name(call: Call, tree: Tree) -> None:
    """Refuse a body that names another object than the path.

    Raises:
        BadRequest: It does, or names none.
    """
    wanted = call.route.name
    given = (tree.get("metadata") or {}).get("name") or ""
    if not given:
        raise nameless(call)
    if given != wanted:
        raise BadRequest(
            f"the name of the object ({given}) does not match the name on the URL ({wanted})"
        )


class Writing:
    """Creates and updates objects of every kind."""

    def __init__(self, objects: Objects, chain: Chain) -> None:
        self._objects = objects
        self._chain = chain

    def create(
        self,
        call: Call,
        tree: Tree,
        *,
        options: Tree,
        own: Callable[[Call, Tree], None] = own_create,
    ) -> Written:
        """Create an object.

        Args:
            call: The request.
            tree: What the client sent, its shape checked; consumed.
            options: What webhooks see of the request's options.
            own: Records field ownership.

        Raises:
            ApiError: Somebody refuses.
        """
        kind = call.kind
        metadata = place(call, tree)
        if metadata.get("resourceVersion"):
            raise _Unreadable("resourceVersion should not be set on objects to be created")
        (settle if call.trusted else set_defaults)(kind, tree)
        metadata = tree["metadata"]
        if not metadata.get("name") and metadata.get("generateName"):
            metadata["name"] = call.generated_name(metadata["generateName"])
        metadata["uid"] = call.new_uid()
        metadata["creationTimestamp"] = call.timestamp
        for field in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
            metadata.pop(field, None)
        if kind.generation == "none":
            metadata.pop("generation", None)
        else:
            metadata["generation"] = 1
        own(call, tree)
        petition = call.petition("CREATE", metadata.get("name") or "", tree, None, options)
        self._chain.mutate(petition)
        kind.rules.prepare_create(tree, Context(call.now))
        if "status" in tree:
            settle_status(kind, tree)
        if not call.trusted:
            self._validate_create(call, tree)
        self._chain.judge(petition)
        return self._store_new(call, tree)

    def _validate_create(self, call: Call, tree: Tree) -> None:
        kind = call.kind
        violations = validate_metadata_create(tree, kind)
        violations += kind.rules.validate_create(tree)
        if violations:
            raise Invalid(kind.kind, _group(kind), tree["metadata"].get("name") or "", violations)
        for text in kind.rules.warnings(tree, None):
            call.warn(text)

    def _store_new(self, call: Call, tree: Tree) -> Written:
        kind = call.kind
        key = Key(call.namespace, tree["metadata"]["name"])
        present = self._objects.find(kind, key)
        if present is not None:
            refusal = AlreadyExists.of(kind.plural, kind.group, key.name)
            if b'"deletionTimestamp"' in present.body and self._deleting(kind, present):
                refusal.message = f"object is being deleted: {refusal.message}"
            raise refusal
        if call.dry_run:
            return Written(shaped(tree), None, created=True)
        # A place for the revision, which is known only when the object is stored.
        tree["metadata"]["resourceVersion"] = "0"
        tree = shaped(tree)
        return Written(tree, self._objects.put(kind, key, tree, 0), created=True)

    def _deleting(self, kind: Kind, version: Version) -> bool:
        return "deletionTimestamp" in self._objects.tree(kind, version)["metadata"]

    def update(
        self,
        call: Call,
        change: Edit,
        *,
        options: Tree,
        subresource: str = "",
        part: Part | None = None,
        own: Callable[[Call, Tree, Tree, str], None] = own_update,
        put: bool = False,
        shared: bool = False,
    ) -> Written:
        """Change an object, or one of its subresources that is part of it.

        Args:
            call: The request.
            change: Makes the wanted object of the present one; its result's shape is sound and
                its defaults are set.
            options: What webhooks see of the request's options.
            subresource: ``status`` and others that write the same object.
            part: The rules of that subresource, where they are not the kind's own.
            own: Records field ownership.
            put: The client sent a whole object: it may create, and may have to name a revision.
            shared: ``change`` leaves the present object as it is, and so will the rules: they see
                a result with metadata and status of its own (``with_own_status``).

        Raises:
            ApiError: Somebody refuses.
        """
        kind = call.kind
        part = part or part_of(kind, subresource)
        if part is None:
            raise NotFound.resource()
        key = Key(call.namespace, call.route.name)
        present = self._objects.find(kind, key)
        if present is None:
            if put and kind.creates_on_put and not subresource:
                return self.create(call, change({}), options=options)
            raise NotFound.of(kind.plural, kind.group, key.name)
        old = self._objects.tree(kind, present)
        # Decoded twice, for what is made of the old object may change any part of it.
        new = change(old if shared else self._objects.tree(kind, present))
        self._check_revision(call, old, new, put=put and not subresource)
        own(call, old, new, subresource)
        petition = call.petition("UPDATE", key.name, new, old, options, subresource)
        self._chain.mutate(petition)
        self._prepare_update(call, new, old, part)
        if put and subresource:
            # What came back from the old object may have defaults that metadata lacks now.
            kind.rules.default(new)
        if not call.trusted:
            self._validate_update(call, new, old, part, subresource)
        self._chain.judge(petition)
        return self.store_update(call, present, old, new)

    def _check_revision(self, call: Call, old: Tree, new: Tree, *, put: bool) -> None:
        kind, metadata = call.kind, new["metadata"]
        given = metadata.get("resourceVersion") or ""
        current = old["metadata"]["resourceVersion"]
        if given and not given.isdigit():
            raise _Unreadable(f'strconv.ParseUint: parsing "{given}": invalid syntax')
        name = call.route.name
        if given in ("", "0"):
            if put and kind.needs_revision_on_put:
                why = invalid("metadata.resourceVersion", 0, "must be specified for an update")
                # The real server names the resource here, not the kind.
                raise Invalid(kind.plural, kind.group, name, [why])
            metadata["resourceVersion"] = current
        elif given != current:
            raise conflict(kind, name)
        uid = metadata.get("uid")
        if (put or call.trusted) and uid and uid != old["metadata"]["uid"]:
            raise Conflict.of(
                kind.plural,
                kind.group,
                name,
                "StorageError: invalid object, Code: 4, Key: /registry/"
                f"{kind.plural}/{Key(call.namespace, name)}, ResourceVersion: 0, "
                f"AdditionalErrorMsg: Precondition failed: UID in precondition: {uid}, "
                f"UID in object meta: {old['metadata']['uid']}",
            )

    def _prepare_update(self, call: Call, new: Tree, old: Tree, part: Part) -> None:
        """Keep of the old object what this write may not touch, and count generations."""
        kind = call.kind
        part.prepare(new, old, Context(call.now))
        keep_system_fields(new["metadata"], old["metadata"])
        if kind.generation != "none" and part.counts and _wants_more(kind, new, old):
            new["metadata"]["generation"] = (old["metadata"].get("generation") or 0) + 1

    def _validate_update(
        self, call: Call, new: Tree, old: Tree, part: Part, subresource: str
    ) -> None:
        kind = call.kind
        violations = validate_metadata_update(new, old, kind)
        violations += part.judge(new, old)
        if violations:
            raise Invalid(kind.kind, _group(kind), call.route.name, violations)
        if not subresource:
            for text in kind.rules.warnings(new, old):
                call.warn(text)

    def store_update(self, call: Call, present: Version, old: Tree, new: Tree) -> Written:
        """Store the successor of an object, remove it, or leave it when nothing has changed."""
        kind = call.kind
        new = shaped(new)
        if unchanged(old, new):
            return Written(new, None if call.dry_run else present)
        if _goes_now(kind, new):
            if call.dry_run:
                return Written(new, None, removed=True)
            # Watchers see the last state that was stored, not the one that let it go.
            version = self._objects.remove(kind, present)
            return Written(new, version, removed=True)
        if call.dry_run:
            return Written(new, None)
        return Written(new, self._objects.put(kind, present.key, new, present.revision))


def _group(kind: Kind) -> str:
    """Return the group that validation names: that of the stored form."""
    return kind.stored.partition(".")[2] if kind.stored else kind.group


def _wants_more(kind: Kind, new: Tree, old: Tree) -> bool:
    """Whether what is wanted has changed, by the kind's notion of it."""
    if kind.generation == "spec":
        return bool(new.get("spec") != old.get("spec"))
    skipped = {"metadata", "status"} if "status" in kind.subresources else {"metadata"}
    fields = (new.keys() | old.keys()) - skipped
    return any(new.get(field) != old.get(field) for field in fields)


def _goes_now(kind: Kind, tree: Tree) -> bool:
    """Whether an object that is being deleted has nothing left to wait for."""
    metadata = tree["metadata"]
    if "deletionTimestamp" not in metadata or metadata.get("finalizers"):
        return False
    if metadata.get("deletionGracePeriodSeconds"):
        return False
    if kind.resource == "namespaces":
        return not (tree.get("spec") or {}).get("finalizers")
    return True

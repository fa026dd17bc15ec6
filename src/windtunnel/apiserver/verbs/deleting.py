"""Deletes: grace for pods, finalizers for all, dependents by propagation.

An object goes at once when nothing holds it; else it is marked, and whoever takes the last
finalizer away (or a kubelet, by a delete without grace) makes it go.
Source: generic registry of kube-apiserver v1.36.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from windtunnel.apiserver.admission import Chain
from windtunnel.apiserver.call import Call
from windtunnel.apiserver.custom import DEFINITIONS
from windtunnel.apiserver.forms.options import DeleteOptions
from windtunnel.apiserver.verbs.objects import Objects, shaped
from windtunnel.kinds import Kind
from windtunnel.kinds.extension.definition_conditions import terminating_status
from windtunnel.machinery.errors import Conflict
from windtunnel.machinery.timestamp import parse_time, time_text
from windtunnel.machinery.tree import Key, Tree
from windtunnel.store import Version

ORPHAN: Final = "orphan"
FOREGROUND: Final = "foregroundDeletion"
_FINISHED: Final = ("Succeeded", "Failed")
_DEFAULT_GRACE_SECONDS: Final = 30
_JOB_WARNING: Final = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background "
    "to remove them or set propagationPolicy=Orphan to suppress this warning"
)


@dataclass(frozen=True, slots=True)
class Deleted:
    """What came of a delete: the object as it was left, and whether it is gone."""

    tree: Tree
    gone: bool


def _require_same(kind: Kind, name: str, metadata: Tree, options: DeleteOptions) -> None:
    for wanted, given, what, why in (
        (options.uid, metadata["uid"], "UID", "deleted and then recreated"),
        (options.resource_version, metadata["resourceVersion"], "ResourceVersion", "modified"),
    ):
        if wanted and wanted != given:
            raise Conflict.of(
                kind.kind,
                kind.group,
                name,
                f"the {what} in the precondition ({wanted}) does not match the {what} in record "
                f"({given}). The object might have been {why}",
            )


def _propagation(kind: Kind, options: DeleteOptions, finalizers: list[str]) -> str:
    """Return what becomes of dependents: Orphan, Foreground or Background."""
    if options.orphan is not None:
        return "Orphan" if options.orphan else "Background"
    if options.propagation is not None:
        return options.propagation
    for finalizer in finalizers:
        if finalizer == ORPHAN:
            return "Orphan"
        if finalizer == FOREGROUND:
            return "Foreground"
    return kind.default_propagation or "Background"


def _finalizers(kind: Kind, options: DeleteOptions, present: list[str]) -> list[str]:
    """Return the finalizers that the object shall have while its dependents are dealt with."""
    kept = [finalizer for finalizer in present if finalizer not in (ORPHAN, FOREGROUND)]
    added = {"Orphan": [ORPHAN], "Foreground": [FOREGROUND]}
    return kept + added.get(_propagation(kind, options, present), [])


def _grace(tree: Tree, options: DeleteOptions) -> int:
    """Return how many seconds a pod is given."""
    spec, status = tree.get("spec") or {}, tree.get("status") or {}
    seconds = options.grace_seconds
    if seconds is None:
        seconds = spec.get("terminationGracePeriodSeconds", _DEFAULT_GRACE_SECONDS)
    if not spec.get("nodeName") or status.get("phase") in _FINISHED:
        return 0
    return 1 if seconds < 0 else int(seconds)


class Deleting:
    """Deletes objects of every kind."""

    def __init__(self, objects: Objects, chain: Chain) -> None:
        self._objects = objects
        self._chain = chain

    def delete(
        self, call: Call, version: Version, options: DeleteOptions, *, admit: bool = True
    ) -> Deleted:
        """Delete one object.

        Args:
            call: The request.
            version: What is there.
            options: How it shall go.
            admit: Whether admission is asked.

        Raises:
            ApiError: Somebody refuses, or the preconditions do not hold.
        """
        kind = call.kind
        tree = self._objects.tree(kind, version)
        if admit:
            self._admit(call, version.key, tree, options)
        _require_same(kind, version.key.name, tree["metadata"], options)
        if kind.resource == "namespaces":
            return self._delete_namespace(call, version, tree)
        if kind.resource == DEFINITIONS:
            tree["status"] = terminating_status(tree, call.now)
            return self._mark(call, version, tree, bump=False, grace=None)
        unsaid = options.propagation is None and options.orphan is None
        if unsaid and kind.resource == "jobs.batch":
            call.warn(_JOB_WARNING)
        metadata = tree["metadata"]
        finalizers = list(metadata.get("finalizers") or ())
        wanted = _finalizers(kind, options, finalizers)
        if kind.resource == "pods":
            if self._is_pending(metadata, options):
                return Deleted(tree, gone=False)
            seconds = self._give_grace(call, tree, options)
            return self._leave(call, version, tree, wanted, held=bool(wanted) or seconds > 0)
        if not wanted:
            return self._remove(call, version, tree)
        if "deletionTimestamp" in metadata and wanted == finalizers:
            return Deleted(tree, gone=False)
        metadata["finalizers"] = wanted
        return self._mark(call, version, tree, bump=True, grace=0)

    def _admit(self, call: Call, key: Key, tree: Tree, options: DeleteOptions) -> None:
        petition = call.petition("DELETE", key.name, None, tree, options.tree())
        self._chain.mutate(petition)
        self._chain.judge(petition)

    def _is_pending(self, metadata: Tree, options: DeleteOptions) -> bool:
        """Whether a pod is being deleted already and this request does not hurry it."""
        given = metadata.get("deletionGracePeriodSeconds")
        if "deletionTimestamp" not in metadata or given is None:
            return False
        return options.grace_seconds is None or options.grace_seconds >= given

    def _give_grace(self, call: Call, tree: Tree, options: DeleteOptions) -> int:
        metadata = tree["metadata"]
        if "deletionTimestamp" in metadata:
            seconds = max(options.grace_seconds or 0, 0)
            began = parse_time(metadata["deletionTimestamp"])
            began -= metadata.get("deletionGracePeriodSeconds") or 0
            metadata["deletionTimestamp"] = time_text(began + seconds)
        else:
            seconds = _grace(tree, options)
            metadata["deletionTimestamp"] = time_text(call.now + seconds)
            metadata["generation"] = (metadata.get("generation") or 0) + 1
        metadata["deletionGracePeriodSeconds"] = seconds
        return seconds

    def _leave(
        self, call: Call, version: Version, tree: Tree, finalizers: list[str], *, held: bool
    ) -> Deleted:
        tree["metadata"]["finalizers"] = finalizers
        tree = shaped(tree)
        if call.dry_run:
            return Deleted(tree, gone=not held)
        marked = self._objects.put(call.kind, version.key, tree, version.revision)
        if held:
            return Deleted(tree, gone=False)
        return self._remove(call, marked, tree)

    def _remove(self, call: Call, version: Version, tree: Tree) -> Deleted:
        if not call.dry_run:
            self._objects.remove(call.kind, version)
        return Deleted(tree, gone=True)

    def _mark(
        self, call: Call, version: Version, tree: Tree, *, bump: bool, grace: int | None
    ) -> Deleted:
        """Leave the object with a deletionTimestamp, for its finalizers to be dealt with."""
        metadata = tree["metadata"]
        if "deletionTimestamp" not in metadata:
            metadata["deletionTimestamp"] = call.timestamp
            if bump and metadata.get("generation"):
                metadata["generation"] += 1
        if grace is not None:
            metadata.setdefault("deletionGracePeriodSeconds", grace)
        tree = shaped(tree)
        if not call.dry_run:
            self._objects.put(call.kind, version.key, tree, version.revision)
        return Deleted(tree, gone=False)

    def _delete_namespace(self, call: Call, version: Version, tree: Tree) -> Deleted:
        metadata = tree["metadata"]
        if "deletionTimestamp" in metadata:
            if (tree.get("spec") or {}).get("finalizers") or metadata.get("finalizers"):
                return Deleted(tree, gone=False)
            return self._remove(call, version, tree)
        tree["status"] = {**(tree.get("status") or {}), "phase": "Terminating"}
        if (tree.get("spec") or {}).get("finalizers") or metadata.get("finalizers"):
            return self._mark(call, version, tree, bump=False, grace=None)
        metadata["deletionTimestamp"] = call.timestamp
        return replace(self._remove(call, version, tree), tree=shaped(tree))

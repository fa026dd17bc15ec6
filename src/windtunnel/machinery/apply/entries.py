"""The entries of ``metadata.managedFields``: read, keep in order, bound in number, write back.

An entry belongs to a manager, an operation (Apply or Update), a version and a subresource. An
applier's version is not part of whose entry it is, so an applier may move on to another version.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from windtunnel.machinery.apply.fieldset import SELF, FieldSet, difference, union
from windtunnel.machinery.tree import Tree

_MOST_UPDATERS: Final = 10
_ANCIENT: Final = "ancient-changes"

STRIPPED: Final[FieldSet] = {
    "f:apiVersion": {},
    "f:kind": {},
    "f:metadata": {
        ".": {},
        **{
            f"f:{name}": {}
            for name in (
                "name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName",
                "generation", "managedFields", "resourceVersion",
            )
        },
    },
}  # fmt: skip
"""What nobody owns: the server's own fields, and what names the object."""


class Owner(NamedTuple):
    """Whose entry it is."""

    manager: str
    operation: str
    api_version: str
    """"" for appliers."""
    subresource: str

    @property
    def applies(self) -> bool:
        """Whether the entry was made by server-side apply."""
        return self.operation == "Apply"


def updater(manager: str, api_version: str, subresource: str) -> Owner:
    """Return the owner of what plain writes of this manager set."""
    return Owner(manager, "Update", api_version, subresource)


def applier(manager: str, subresource: str) -> Owner:
    """Return the owner of what this manager applied."""
    return Owner(manager, "Apply", "", subresource)


@dataclass(slots=True)
class Entry:
    """One entry; ``time`` is "" where none is known."""

    api_version: str
    time: str
    fields: FieldSet

    def written(self, owner: Owner) -> Tree:
        """Return the entry as objects carry it."""
        tree: Tree = {
            "manager": owner.manager,
            "operation": owner.operation,
            "apiVersion": self.api_version,
        }
        if self.time:
            tree["time"] = self.time
        tree["fieldsType"] = "FieldsV1"
        tree["fieldsV1"] = self.fields
        if owner.subresource:
            tree["subresource"] = owner.subresource
        return tree


Entries = dict[Owner, Entry]


def read(written: Any) -> Entries | None:
    """Return the entries, or None when one of them is malformed."""
    entries: Entries = {}
    for tree in written or ():
        operation = tree.get("operation")
        api_version = tree.get("apiVersion")
        if (
            operation not in ("Apply", "Update")
            or not api_version
            or tree.get("fieldsType") != "FieldsV1"
        ):
            return None
        owner = Owner(
            tree.get("manager") or "",
            operation,
            "" if operation == "Apply" else api_version,
            tree.get("subresource") or "",
        )
        fields = tree.get("fieldsV1")
        if fields.__class__ is not dict:
            return None
        entries[owner] = Entry(api_version, tree.get("time") or "", fields)
    return entries


def _well_formed(fields: Any) -> bool:
    """Return whether a set that a client sent is one: elements all the way down."""
    return fields.__class__ is dict and all(
        (key == SELF or key[1:2] == ":") and _well_formed(node) for key, node in fields.items()
    )


def of_request(old: Tree | None, new: Tree, subresource: str) -> Entries:
    """Return the entries that a write starts from.

    A client may send entries of its own; most send back what they read, or nothing. Through a
    subresource they are never taken. A single empty entry, or an empty list, forgets all.
    """
    metadata = (old or {}).get("metadata") or {}
    given = (new.get("metadata") or {}).get("managedFields")
    if not subresource and given != metadata.get("managedFields"):
        if given is not None and (not given or given == [{}]):
            return {}
        sent = read(given)
        if sent and all(_well_formed(entry.fields) for entry in sent.values()):
            return sent
    return read(metadata.get("managedFields")) or {}


def write(tree: Tree, entries: Entries) -> None:
    """Write the entries that hold anything into an object, in order."""
    metadata = tree.get("metadata")
    if metadata is None:
        metadata = tree["metadata"] = {}
    kept = [pair for pair in entries.items() if pair[1].fields]
    if not kept:
        metadata.pop("managedFields", None)
        return
    if len(kept) > 1:
        kept.sort(key=_place)
    metadata["managedFields"] = [entry.written(owner) for owner, entry in kept]


def _place(pair: tuple[Owner, Entry]) -> tuple[str, str, str, str, str]:
    owner, entry = pair
    return owner.operation, entry.time, owner.manager, entry.api_version, owner.subresource


def give_up(entries: Entries, fields: Iterable[FieldSet], owners: Iterable[Owner]) -> None:
    """Take fields away from some owners."""
    for owner in owners:
        entry = entries[owner]
        for lost in fields:
            entry.fields = difference(entry.fields, lost)


def bound(entries: Entries) -> None:
    """Merge the oldest updaters of a version into one entry while there are too many of them."""
    updaters = [owner for owner, entry in entries.items() if not owner.applies and entry.fields]
    if len(updaters) <= _MOST_UPDATERS:
        return
    updaters.sort(key=lambda owner: (entries[owner].time, owner))
    excess = len(updaters) - _MOST_UPDATERS
    first: dict[str, Owner] = {}
    for owner in updaters:
        if not excess:
            return
        version = owner.api_version
        if version not in first:
            first[version] = owner
            continue
        bucket = updater(_ANCIENT, version, "")
        if bucket not in entries:
            entries[bucket] = entries.pop(first[version])
        if owner != bucket:
            entry = entries.pop(owner)
            merged = union(entry.fields, entries[bucket].fields)
            entries[bucket] = Entry(entry.api_version, entry.time, merged)
        excess -= 1


def restore_times(old: Tree, new: Tree) -> None:
    """Take the old entries where the new ones differ from them in nothing but times.

    A write that changes nothing but such times is no change.
    """
    before = (old.get("metadata") or {}).get("managedFields")
    after = (new.get("metadata") or {}).get("managedFields")
    if before == after or not before or not after or len(before) != len(after):
        return
    if _timeless(before) == _timeless(after):
        new["metadata"]["managedFields"] = before


def _timeless(written: list[Tree]) -> list[Tree]:
    entries = [{key: part for key, part in tree.items() if key != "time"} for tree in written]
    return sorted(
        entries,
        key=lambda tree: (
            tree.get("operation", ""), tree.get("manager", ""), tree.get("apiVersion", ""),
            tree.get("subresource", ""),
        ),
    )  # fmt: skip

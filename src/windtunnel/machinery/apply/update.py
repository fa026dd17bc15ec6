"""Who owns what after a plain write (create, update, patch).

The writer owns what it changed; whoever owned a changed or removed field before does not any more.

Source: k8s.io/apimachinery managedfields and structured-merge-diff v6, v1.36.
"""

from __future__ import annotations

from typing import Any

from windtunnel.machinery.apply import entries as own
from windtunnel.machinery.apply.compare import appeared, changes
from windtunnel.machinery.apply.entries import Entries, Entry
from windtunnel.machinery.apply.fieldset import FieldSet, difference, union, without
from windtunnel.machinery.schema.settling import settler
from windtunnel.machinery.schema.structure import Structure
from windtunnel.machinery.tree import Tree

_NOTHING: FieldSet = {}


def track_update(
    old: Tree | None,
    new: Tree,
    structure: Structure,
    *,
    manager: str,
    api_version: str,
    subresource: str = "",
    now: str,
    ignore: FieldSet | None = None,
) -> None:
    """Write ``managedFields`` of an object that was created or updated, in place.

    Args:
        old: The object as it was, or None for a create.
        new: The object as it will be stored; only its managedFields are changed.
        structure: The shape of the kind.
        manager: Who writes.
        api_version: The version in which it wrote.
        subresource: Through which subresource, or "".
        now: RFC 3339 seconds; "" leaves the time out, as writes to ``scale`` do.
        ignore: Fields that a write of this sort cannot set; nothing beneath them is tracked.
    """
    entries = own.of_request(old, new, subresource)
    if old is not None and not entries:
        # What has no owners is left without them: its history is unknown.
        own.write(new, entries)
        return
    update_entries(
        entries,
        blank(structure) if old is None else old,
        new,
        structure,
        owner=own.updater(manager, api_version, subresource),
        api_version=api_version,
        now=now,
        ignore=ignore,
    )
    own.bound(entries)
    own.write(new, entries)


def update_entries(
    entries: Entries,
    old: Tree,
    new: Tree,
    structure: Structure,
    *,
    owner: own.Owner,
    api_version: str,
    now: str,
    ignore: FieldSet | None,
) -> None:
    """Move ownership of what differs between old and new to ``owner``, in place."""
    compare = appeared if old is structure.compiled.get("blank") else changes
    changed, removed = compare(old, new, structure)
    if ignore:
        changed, removed = without(changed, ignore), without(removed, ignore)
    if not changed and not removed:
        return
    own.give_up(entries, (changed, removed), entries)
    taken = difference(changed, own.STRIPPED)
    if not taken:
        return
    before = entries.get(owner)
    fields = union(before.fields, taken) if before is not None else taken
    entries[owner] = Entry(api_version, now, fields)


def blank(structure: Structure) -> Any:
    """Return the object that a create starts from: a typed kind's always written fields."""
    if not structure.model:
        return _NOTHING
    made = structure.compiled.get("blank")
    if made is None:
        made = structure.compiled["blank"] = settler(structure)({})
    return made

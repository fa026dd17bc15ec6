"""Server-side apply: a manager says which fields it wants, and gives up those it no longer names.

The configuration is merged into the live object. What the manager owned and no longer names, and
nobody else owns, is taken out. A field that another manager owns and that would change is a
conflict, unless forced; then the other manager loses it.

Source: k8s.io/apimachinery managedfields and structured-merge-diff v6, v1.36.
"""

from __future__ import annotations

from typing import Any

from windtunnel.machinery.apply import entries as own
from windtunnel.machinery.apply import last_applied
from windtunnel.machinery.apply.compare import changes
from windtunnel.machinery.apply.conflicts import (
    MistypedPatch,
    UnconvertiblePatch,
    conflict,
    type_text,
)
from windtunnel.machinery.apply.entries import Entries, Entry, Owner
from windtunnel.machinery.apply.fieldset import (
    FieldSet,
    difference,
    intersection,
    union,
    without,
)
from windtunnel.machinery.apply.merging import merged, removed
from windtunnel.machinery.apply.typed import field_set, mistakes, with_named_fields
from windtunnel.machinery.apply.update import blank, update_entries
from windtunnel.machinery.errors import BadRequest
from windtunnel.machinery.patches.refusals import not_a
from windtunnel.machinery.schema.conversion import conversion_mistake
from windtunnel.machinery.schema.structure import Structure
from windtunnel.machinery.tree import Tree, decode, encode

_BEFORE_FIRST = "before-first-apply"
_KUBECTL = "kubectl"


def apply_patch(
    live: Tree | None,
    applied: Tree,
    structure: Structure,
    *,
    manager: str,
    force: bool,
    api_version: str,
    subresource: str = "",
    now: str,
    ignore: FieldSet | None = None,
) -> Tree:
    """Return the live object (None: there is none) with a configuration applied.

    The result is settled, and still needs defaults.

    Args:
        live: The object as it is, or None.
        applied: The configuration; it is not changed.
        structure: The shape of the kind.
        manager: Who applies.
        force: Take fields from other managers instead of refusing.
        api_version: The version in which the manager speaks.
        subresource: Through which subresource, or "".
        now: RFC 3339 seconds.
        ignore: Fields that an apply of this sort cannot set; nothing beneath them is tracked.

    Raises:
        Conflict: Another manager owns a field that would change.
        MistypedPatch: The configuration does not fit the kind.
        UnconvertiblePatch: A value of it cannot be read.
        BadRequest: It is no object, of no or another version, or carries managedFields.
    """
    if not isinstance(applied, dict):
        raise BadRequest(
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: "
            + not_a(applied, "map[string]interface {}")
        )
    if applied.get("apiVersion") != api_version or not applied.get("kind"):
        raise BadRequest(f"invalid object type: {type_text(applied)}")
    metadata = applied.get("metadata")
    if isinstance(metadata, dict) and metadata.get("managedFields") is not None:
        raise BadRequest("metadata.managedFields must be nil")
    wrong = list(mistakes(structure, applied))
    if wrong:
        raise MistypedPatch(applied, wrong)
    attempt = _Attempt(live, applied, structure, manager, api_version, subresource, now, ignore)
    contested = {} if force else attempt.contested()
    if contested and manager == _KUBECTL:
        # kubectl may take over what it once set from the client's side.
        contested = last_applied.still_contested(contested, live or {}, structure)
    if contested:
        raise conflict(contested)
    result = attempt.result()
    if structure.model:
        mistake = conversion_mistake(structure, result)
        if isinstance(mistake, str):
            raise UnconvertiblePatch(result, mistake)
    if manager == _KUBECTL:
        last_applied.renew(result, applied)
    return result


class _Attempt:
    """One apply: what the object would become, and who would lose what."""

    def __init__(
        self,
        live: Tree | None,
        applied: Tree,
        structure: Structure,
        manager: str,
        api_version: str,
        subresource: str,
        now: str,
        ignore: FieldSet | None,
    ) -> None:
        base: Tree = live if live is not None else blank(structure)
        self._base = base
        self._structure = structure
        self._now = now
        self._owner = own.applier(manager, subresource)
        self._entries = self._starting_entries(live, api_version)
        wanted = field_set(structure, applied)
        if ignore:
            wanted = without(wanted, ignore)
        before = self._entries.get(self._owner)
        self._time = before.time if before is not None else ""
        self._entries[self._owner] = Entry(api_version, self._time, wanted)
        self._new = self._pruned(
            merged(base, applied, structure), before.fields if before is not None else {}
        )
        changed, gone = changes(base, self._new, structure)
        if ignore:
            changed, gone = without(changed, ignore), without(gone, ignore)
        self._changed, self._removed = changed, gone

    def _starting_entries(self, live: Tree | None, api_version: str) -> Entries:
        if live is None:
            return {}
        entries = own.read((live.get("metadata") or {}).get("managedFields")) or {}
        if not entries:
            update_entries(
                entries,
                blank(self._structure),
                live,
                self._structure,
                owner=own.updater(_BEFORE_FIRST, api_version, ""),
                api_version=api_version,
                now=self._now,
                ignore=None,
            )
        return entries

    def _pruned(self, value: Tree, last: FieldSet) -> Tree:
        """Take out what the manager owned, no longer names, and nobody else owns."""
        if not last:
            return value
        structure = self._structure
        last = with_named_fields(last, structure)
        everything = with_named_fields(field_set(structure, value), structure)
        left = with_named_fields(
            field_set(structure, removed(value, last, structure) or {}), structure
        )
        owned: FieldSet = {}
        for entry in self._entries.values():
            owned = union(owned, entry.fields)
        kept = union(left, with_named_fields(owned, structure))
        without_owned = removed(value, difference(everything, kept), structure) or {}
        left = with_named_fields(field_set(structure, without_owned), structure)
        # What disappeared only because its parent did, but was never the manager's, comes back.
        lost = intersection(difference(everything, left), last)
        return removed(value, lost, structure) or {}

    def contested(self) -> dict[Owner, FieldSet]:
        """Return the fields that would change and belong to other managers."""
        shares = {
            owner: intersection(entry.fields, self._changed)
            for owner, entry in self._entries.items()
            if owner != self._owner
        }
        return {owner: share for owner, share in shares.items() if share}

    def result(self) -> Tree:
        """Return the object as it becomes, with its managedFields."""
        others = [owner for owner in self._entries if owner != self._owner]
        own.give_up(self._entries, (self._changed, self._removed), others)
        entry = self._entries[self._owner]
        entry.fields = difference(entry.fields, own.STRIPPED)
        if self._new != self._base:
            entry.time = self._now
        own.bound(self._entries)
        # A tree of its own: the merged one shares parts with the live object and the request.
        result: Any = decode(encode(self._new))
        own.write(result, self._entries)
        tree: Tree = result
        return tree

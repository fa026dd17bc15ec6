"""What a write changed: which fields have another value, and which are gone.

Each structure is compiled once into a pair of functions: ``Taken`` lists all fields of a value that
was not there before, ``Compared`` lists what differs between two values. Equal parts are skipped by
one comparison in C, so the cost of a small change hardly grows with the object.

Source: structured-merge-diff v6, typed comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from windtunnel.machinery.apply.elements import NameOf, item_name
from windtunnel.machinery.apply.fieldset import SELF, FieldSet
from windtunnel.machinery.schema.structure import Structure
from windtunnel.machinery.tree import encode

_MOST_SPECS: Final = 256
Taken = Callable[[Any], FieldSet]
"""Returns the node of a value that appeared: the value itself and every field beneath it."""
Compared = Callable[[Any, Any, FieldSet, FieldSet, str], None]
"""(old, new, changed, removed, element): adds what differs under ``element`` to both sets."""


class Comparer:
    """The two functions of one structure."""

    __slots__ = ("compared", "taken")

    taken: Taken
    compared: Compared


def comparer(structure: Structure) -> Comparer:
    """Return the comparer of a structure."""
    made: Comparer | None = structure.compiled.get("comparer")
    if made is None:
        made = structure.compiled["comparer"] = Comparer()
        _fill(made, structure)
    return made


def changes(old: Any, new: Any, structure: Structure) -> tuple[FieldSet, FieldSet]:
    """Return the fields that were added or changed, and those that were removed."""
    changed: FieldSet = {}
    removed: FieldSet = {}
    comparer(structure).compared(old, new, changed, removed, "")
    return changed.get("") or {}, removed.get("") or {}


def appeared(blank: Any, new: Any, structure: Structure) -> tuple[FieldSet, FieldSet]:
    """Return the changes from a blank object to ``new``.

    The fields of a spec are looked up where an equal spec, as copies of a template have, was seen
    before.
    """
    spec = new.get("spec")
    if not spec or "spec" not in blank:
        return changes(blank, new, structure)
    known: dict[bytes, tuple[FieldSet, FieldSet]] = structure.compiled.setdefault("specs", {})
    looks = encode(spec)
    found = known.get(looks)
    if found is None:
        found = changes({"spec": blank["spec"]}, {"spec": spec}, structure)
        if len(known) >= _MOST_SPECS:
            known.clear()
        known[looks] = found
    changed, removed = changes({**blank, "spec": spec}, new, structure)
    return {**changed, **found[0]}, {**removed, **found[1]}


def _fill(made: Comparer, structure: Structure) -> None:
    if structure.map_type != "atomic":
        if structure.type == "object":
            _fill_object(made, structure)
            return
        if structure.type == "map" and structure.items is not None:
            _fill_map(made, structure.items)
            return
        if structure.type == "any":
            _fill_deduced(made)
            return
    if structure.type == "list" and structure.items is not None:
        name = item_name(structure)
        if name is not None:
            _fill_list(made, comparer(structure.items), name)
            return
    made.taken, made.compared = _leaf_taken, _leaf_compared


def _leaf_taken(_: Any) -> FieldSet:
    return {}


def _leaf_compared(old: Any, new: Any, changed: FieldSet, removed: FieldSet, element: str) -> None:
    changed[element] = {}


def _both(wanted: type, old: Any, new: Any) -> bool:
    """Whether two values can be taken apart; a custom resource is judged only later."""
    return (not old or old.__class__ is wanted) and (not new or new.__class__ is wanted)


_DEDUCED = Structure("any")


def _with_any_others(
    table: dict[str, tuple[str, Comparer]],
) -> Callable[[str], tuple[str, Comparer]]:
    def find(key: str) -> tuple[str, Comparer]:
        return table.get(key) or (f"f:{key}", comparer(_DEDUCED))

    return find


def _fill_object(made: Comparer, structure: Structure) -> None:
    table = {key: (f"f:{key}", comparer(field)) for key, field in structure.fields.items()}
    find: Callable[[str], tuple[str, Comparer] | None] = table.get
    if structure.preserve_unknown:
        find = _with_any_others(table)

    def taken(value: Any) -> FieldSet:
        if not value or value.__class__ is not dict:
            return {}
        node: FieldSet = {SELF: {}}
        for key, part in value.items():
            entry = find(key)
            if entry is not None:
                node[entry[0]] = entry[1].taken(part)
        return node

    def compared(old: Any, new: Any, changed: FieldSet, removed: FieldSet, element: str) -> None:
        if (not old and not new) or not _both(dict, old, new):
            changed[element] = {}
            return
        old, new = old or {}, new or {}
        change: FieldSet = {}
        removal: FieldSet = {}
        for key, part in new.items():
            entry = find(key)
            if entry is None:
                continue
            if key not in old:
                change[entry[0]] = entry[1].taken(part)
            elif (before := old[key]) is not part and before != part:
                entry[1].compared(before, part, change, removal, entry[0])
        for key, part in old.items():
            entry = find(key) if key not in new else None
            if entry is not None:
                removal[entry[0]] = entry[1].taken(part)
        if change:
            changed[element] = change
        if removal:
            removed[element] = removal

    made.taken, made.compared = taken, compared


def _fill_map(made: Comparer, items: Structure) -> None:
    part_of = comparer(items)

    def taken(value: Any) -> FieldSet:
        if not value or value.__class__ is not dict:
            return {}
        node: FieldSet = {SELF: {}}
        for key, part in value.items():
            node[f"f:{key}"] = part_of.taken(part)
        return node

    made.taken, made.compared = taken, _compared_map(part_of)


def _compared_map(part_of: Comparer) -> Compared:
    def compared(old: Any, new: Any, changed: FieldSet, removed: FieldSet, element: str) -> None:
        if (not old and not new) or not _both(dict, old, new):
            changed[element] = {}
            return
        old, new = old or {}, new or {}
        change: FieldSet = {}
        removal: FieldSet = {}
        for key, part in new.items():
            if key not in old:
                change[f"f:{key}"] = part_of.taken(part)
            elif old[key] != part:
                part_of.compared(old[key], part, change, removal, f"f:{key}")
        for key, part in old.items():
            if key not in new:
                removal[f"f:{key}"] = part_of.taken(part)
        if change:
            changed[element] = change
        if removal:
            removed[element] = removal

    return compared


def _fill_deduced(made: Comparer) -> None:
    """Fields of any type: objects are taken apart, lists are one value."""

    def taken(value: Any) -> FieldSet:
        if not value or value.__class__ is not dict:
            return {}
        node: FieldSet = {SELF: {}}
        for key, part in value.items():
            node[f"f:{key}"] = taken(part)
        return node

    as_map = _compared_map(made)

    def compared(old: Any, new: Any, changed: FieldSet, removed: FieldSet, element: str) -> None:
        old_is_map, new_is_map = old.__class__ is dict, new.__class__ is dict
        if (old_is_map or old is None) and (new_is_map or new is None):
            as_map(old, new, changed, removed, element)
            return
        changed[element] = {}
        beneath = {key: node for key, node in taken(old).items() if key != SELF}
        if beneath:
            removed[element] = beneath
        if new_is_map:
            changed[element] = taken(new)

    made.taken, made.compared = taken, compared


def _fill_list(made: Comparer, part_of: Comparer, name: NameOf) -> None:
    def taken(values: Any) -> FieldSet:
        if not values or values.__class__ is not list:
            return {}
        node: FieldSet = {SELF: {}}
        for part in values:
            element = name(part)
            if element is not None:
                node[element] = part_of.taken(part)
        return node

    def compared(old: Any, new: Any, changed: FieldSet, removed: FieldSet, element: str) -> None:
        if (not old and not new) or not _both(list, old, new):
            changed[element] = {}
            return
        before = {name(part): part for part in old or ()}
        change: FieldSet = {}
        removal: FieldSet = {}
        after = set()
        for part in new or ():
            item = name(part)
            if item is None:
                continue
            after.add(item)
            if item not in before:
                change[item] = part_of.taken(part)
            elif before[item] != part:
                part_of.compared(before[item], part, change, removal, item)
        for item, part in before.items():
            if item is not None and item not in after:
                removal[item] = part_of.taken(part)
        if change:
            changed[element] = change
        if removal:
            removed[element] = removal

    made.taken, made.compared = taken, compared

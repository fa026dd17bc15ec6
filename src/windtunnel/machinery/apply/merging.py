"""Merge an applied configuration into the live object, and take fields out again.

Source: structured-merge-diff v6, v1.36.
"""

from __future__ import annotations

from typing import Any

from windtunnel.machinery.apply.elements import NameOf, item_name
from windtunnel.machinery.apply.fieldset import SELF, FieldSet
from windtunnel.machinery.apply.typed import child_at, child_of, is_leaf
from windtunnel.machinery.schema.structure import MISSING, Structure


def merged(live: Any, applied: Any, structure: Structure) -> Any:
    """Return the live value with the applied one merged in; neither is changed.

    Where the applied side says something, it wins; atomic lists and maps are taken whole.
    """
    if applied is MISSING:
        return live
    if live is MISSING or (is_leaf(structure, applied) and applied):
        return applied
    if isinstance(live, dict) and (isinstance(applied, dict) or applied is None):
        if not live or structure.map_type == "atomic" or structure.type not in _OBJECTS:
            return applied
        result = dict(live)
        for key, part in (applied or {}).items():
            result[key] = merged(live.get(key, MISSING), part, child_of(structure, key))
        return result
    if isinstance(live, list) and (isinstance(applied, list) or applied is None):
        name = item_name(structure) if structure.type == "list" else None
        if name is None or structure.items is None:
            return applied
        return _merged_list(live, applied or [], structure.items, name)
    return applied


_OBJECTS = ("object", "map", "any")


def _merged_list(live: list[Any], applied: list[Any], items: Structure, name: NameOf) -> list[Any]:
    """Merge two keyed lists: the applied order holds, and live items keep their place around it."""
    ours = {name(item): item for item in applied}
    theirs = {name(item): item for item in live}
    wanted = list(ours)
    shared = [element for element in wanted if element in theirs]
    result: list[Any] = []
    done: set[str | None] = set()
    left, right = 0, 0
    live_names = [name(item) for item in live]

    def take(element: str | None) -> None:
        done.add(element)
        result.append(merged(theirs.get(element, MISSING), ours[element], items))
        if shared and shared[0] == element:
            shared.pop(0)

    while left < len(live) or right < len(wanted):
        if left < len(live):
            element = live_names[left]
            if element not in ours:
                result.append(live[left])
                left += 1
                continue
            if right < len(wanted) and element == wanted[right]:
                take(element)
                left, right = left + 1, right + 1
                continue
            if element in done or (right < len(wanted) and shared and shared[0] != element):
                left += 1
                continue
        if right < len(wanted):
            take(wanted[right])
            right += 1
        elif left < len(live):
            left += 1
    return result


def removed(value: Any, fields: FieldSet, structure: Structure) -> Any:
    """Return a value without the fields of a set (and all beneath them); it is not changed."""
    if not fields or not value or is_leaf(structure, value):
        return value
    if isinstance(value, dict):
        rest: Any = {}
        for key, part in value.items():
            node = fields.get(f"f:{key}")
            if node is None:
                rest[key] = part
            elif node and SELF not in node:
                rest[key] = removed(part, node, child_of(structure, key))
        return rest or None
    name = item_name(structure)
    kept: list[Any] = []
    for item in value:
        element = name(item) if name is not None else None
        node = fields.get(element) if element is not None else None
        if node is None:
            kept.append(item)
        elif node and SELF not in node:
            kept.append(removed(item, node, child_at(structure, str(element))))
    return kept or None

"""Sets of fields, in the very form in which objects carry them (``fieldsV1``).

A set is a tree of path elements. ``{}`` is a field in the set with nothing beneath it, ``{".": {},
…}`` is in the set with fields beneath it, and anything else only leads to fields beneath it.
Working on this form saves reading and writing it: most entries of most objects pass through a write
untouched. Sets are values: no function here changes what it is given, and results share parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

FieldSet = dict[str, Any]
"""A set of fields; ``{}`` as a whole is the empty set."""

SELF: Final = "."


def _is_member(node: FieldSet) -> bool:
    return not node or SELF in node


def _node(member: bool, children: FieldSet) -> FieldSet | None:
    if not children:
        return {} if member else None
    return {SELF: {}, **children} if member else children


def union(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return the fields that are in either set."""
    if not left or not right or left is right:
        return left or right
    both = dict(left)
    for key, node in right.items():
        other = both.get(key)
        both[key] = node if other is None else _union_nodes(other, node)
    return both


def _union_nodes(left: FieldSet, right: FieldSet) -> FieldSet:
    if left == right:
        return left
    both = union(left, right)
    if SELF not in both and (not left or not right):
        both = {SELF: {}, **both}
    return both


def difference(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return the fields of the left set that are not in the right one."""
    if not right or left.keys().isdisjoint(right):
        return left
    rest: FieldSet = {}
    for key, node in left.items():
        other = right.get(key)
        kept = node if other is None else _difference_nodes(node, other)
        if kept is not None:
            rest[key] = kept
    return rest


def _difference_nodes(left: FieldSet, right: FieldSet) -> FieldSet | None:
    member = _is_member(left) and not _is_member(right)
    children: FieldSet = {}
    for key, node in left.items():
        if key == SELF:
            continue
        other = right.get(key)
        kept = node if other is None else _difference_nodes(node, other)
        if kept is not None:
            children[key] = kept
    return _node(member, children)


def without(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return the fields of the left set that are not in the right one nor beneath its fields."""
    if not right or left.keys().isdisjoint(right):
        return left
    rest: FieldSet = {}
    for key, node in left.items():
        other = right.get(key)
        if other is None or key == SELF:
            rest[key] = node
        elif not _is_member(other):
            member = _is_member(node)
            kept = _node(member, {k: n for k, n in without(node, other).items() if k != SELF})
            if kept is not None:
                rest[key] = kept
    return rest


def intersection(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return the fields that are in both sets."""
    shared: FieldSet = {}
    for key, node in left.items():
        other = right.get(key)
        if other is None or key == SELF:
            continue
        kept = _node(_is_member(node) and _is_member(other), intersection(node, other))
        if kept is not None:
            shared[key] = kept
    return shared


def members(fields: FieldSet, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of every field in the set: those of a level, then those beneath them."""
    keys = sorted(key for key in fields if key != SELF)
    for key in keys:
        if _is_member(fields[key]):
            yield (*path, key)
    for key in keys:
        yield from members(fields[key], (*path, key))

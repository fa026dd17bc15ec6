"""Merge patch (RFC 7386): objects are merged, null removes, everything else replaces."""

from __future__ import annotations

from typing import Any

from windtunnel.machinery.errors import BadRequest
from windtunnel.machinery.patches.refusals import must_be_object
from windtunnel.machinery.tree import Tree


def merge_patch(tree: Tree, patch: Any) -> Tree:
    """Merge the patch into the tree and return the tree.

    Raises:
        BadRequest: The patch is not an object.
    """
    if patch is None:
        raise BadRequest("Invalid JSON Patch")
    _merge(tree, must_be_object(patch))
    return tree


def _merge(tree: Tree, patch: Tree) -> None:
    for key, value in patch.items():
        if value is None:
            tree.pop(key, None)
            continue
        current = tree.get(key)
        if isinstance(value, dict) and isinstance(current, dict):
            _merge(current, value)
        else:
            tree[key] = without_nulls(value)


def without_nulls(value: Any) -> Any:
    """Return a value whose objects have no null members; lists keep their nulls."""
    if isinstance(value, dict):
        return {key: without_nulls(part) for key, part in value.items() if part is not None}
    if isinstance(value, list):
        return [without_nulls(part) for part in value]
    return value

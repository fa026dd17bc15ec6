"""Merge patch (RFC 7386): objects are merged, null removes, everything else replaces."""

from __future__ import annotations

from typing import Any

from windtunnel.machinery.errors import BadRequest
from windtunnel.machinery.patches.refusals import must_be_object
from windtunnel.machinery.tree import Tree


def merge_patch(tree: Tree, patch: Any) -> Tree:
    """Merge the patch into the tree; what neither changes is shared with the result.

    Raises:
        BadRequest: The patch is not an object.
    """
    if patch is None:
        raise BadRequest("Invalid JSON Patch")
    return _merged(tree, must_be_object(patch))


def _merged(tree: Tree, patch: Tree) -> Tree:
    merged = dict(tree)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
            continue
        current = merged.get(key)
        if isinstance(value, dict) and isinstance(current, dict):
            merged[key] = _merged(current, value)
        else:
            merged[key] = without_nulls(value)
    return merged


def without_nulls(value: Any) -> Any:
    """Return a value whose objects have no null members; lists keep their nulls."""
    if isinstance(value, dict):
        return {key: without_nulls(part) for key, part in value.items() if part is not None}
    if isinstance(value, list):
        return [without_nulls(part) for part in value]
    return value

"""Strategic merge patch: a merge patch that knows which lists are keyed.

Lists of objects merge by their merge key and lists of scalars as sets where the structure says
``merge``; all other lists are replaced. Directives (``$patch``, ``$retainKeys``,
``$setElementOrder/…``, ``$deleteFromPrimitiveList/…``) say what merging cannot.

Source: k8s.io/apimachinery strategicpatch, v1.36.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.machinery.errors import BadRequest
from windtunnel.machinery.patches.merge import without_nulls
from windtunnel.machinery.patches.order import by_patch_order, has, identity, in_order
from windtunnel.machinery.patches.refusals import (
    DirectiveMistake,
    go_text,
    must_be_object,
)
from windtunnel.machinery.schema.structure import MISSING, Structure
from windtunnel.machinery.schema.values import go_kind
from windtunnel.machinery.tree import Tree

_PATCH: Final = "$patch"
_RETAIN_KEYS: Final = "$retainKeys"
_SET_ORDER: Final = "$setElementOrder/"
_DELETE_FROM: Final = "$deleteFromPrimitiveList/"


def strategic_patch(tree: Tree, patch: Any, structure: Structure) -> Tree:
    """Merge the patch into the tree as the structure says; the patch is used up.

    The tree stays as it is; what the patch does not speak of is shared with the result.

    Raises:
        BadRequest: The patch is not an object, or a directive's own form is wrong.
        DirectiveMistake: A directive does not fit where it stands.
    """
    if patch is None:
        return tree
    return _merge_object(tree, must_be_object(patch, before=""), structure)


def _merge_object(tree: Tree, patch: Tree, structure: Structure | None) -> Tree:
    directive = patch.get(_PATCH, MISSING)
    if directive is not MISSING:
        if directive == "replace":
            del patch[_PATCH]
            return patch
        if directive == "delete":
            return {}
        raise DirectiveMistake(f"unknown patch type: {go_text(directive)} in map: {go_text(patch)}")
    tree = dict(tree)
    _retain_keys(tree, patch)
    _order_lists(tree, patch, structure)
    for key, value in patch.items():
        if key.startswith(_DELETE_FROM):
            _delete_from(tree, key.removeprefix(_DELETE_FROM), value)
        elif value is None:
            tree.pop(key, None)
        else:
            _merge_field(tree, key, value, _field(structure, key))
    return tree


def _field(structure: Structure | None, key: str) -> Structure | None:
    if structure is None:
        return None
    if structure.type == "map":
        return structure.items
    return structure.fields.get(key)


def _merge_field(tree: Tree, key: str, value: Any, field: Structure | None) -> None:
    current = tree.get(key)
    strategies = field.patch_strategies if field is not None else frozenset()
    if isinstance(current, dict) and isinstance(value, dict) and "replace" not in strategies:
        tree[key] = _merge_object(current, value, field)
    elif isinstance(current, list) and isinstance(value, list) and "merge" in strategies:
        assert field is not None
        tree[key] = _merge_list(current, value, field)
    else:
        kept = _without_directives(without_nulls(value))
        if kept is MISSING:
            tree.pop(key, None)
        else:
            tree[key] = kept


def _without_directives(value: Any) -> Any:
    """Return a value that had nothing to merge with; an object with ``$patch`` is not kept."""
    if isinstance(value, dict):
        if _PATCH in value:
            return MISSING
        parts = {
            key: _without_directives(part)
            for key, part in value.items()
            if not key.startswith((_RETAIN_KEYS, _SET_ORDER, _DELETE_FROM))
        }
        return {key: part for key, part in parts.items() if part is not MISSING}
    if isinstance(value, list):
        items = (_without_directives(item) for item in value)
        return [item for item in items if item is not MISSING]
    return value


def _retain_keys(tree: Tree, patch: Tree) -> None:
    """Drop the fields that ``$retainKeys`` does not name."""
    retained = patch.pop(_RETAIN_KEYS, MISSING)
    if retained is MISSING:
        return
    if not isinstance(retained, list):
        raise BadRequest("invalid patch format of retainKeys")
    for key, value in patch.items():
        if (
            value is not None
            and not key.startswith((_DELETE_FROM, _SET_ORDER))
            and key not in retained
        ):
            raise BadRequest("invalid patch format of retainKeys")
    for key in [key for key in tree if key not in retained]:
        del tree[key]


def _delete_from(tree: Tree, key: str, values: Any) -> None:
    current = tree.get(key)
    if isinstance(current, list) and isinstance(values, list):
        tree[key] = [item for item in current if item not in values]


def _merge_list(current: list[Any], patch: list[Any], field: Structure) -> list[Any]:
    if not current and not patch:
        return current
    merged = _merged_items(current, patch, field)
    return by_patch_order(merged, patch, current, field.merge_key)


def _merged_items(current: list[Any], patch: list[Any], field: Structure) -> list[Any]:
    """Return the items of both lists, those of the patch merged into those they name."""
    if _of_objects(current, patch):
        if not field.merge_key:
            raise DirectiveMistake(f"cannot merge lists without merge key for {field.go_type}")
        return _merge_keyed(current, patch, field)
    merged: list[Any] = []
    for item in (*current, *patch):
        if not has(merged, item):
            merged.append(item)
    return merged


def _of_objects(*lists: list[Any]) -> bool:
    """Return whether the lists hold objects.

    Raises:
        DirectiveMistake: They hold objects and other things.
    """
    kinds = {isinstance(item, dict) for items in lists for item in items}
    if len(kinds) > 1:
        raise DirectiveMistake(
            "list element types are not identical: " + go_text([go_text(items) for items in lists])
        )
    return True in kinds


def _merge_keyed(current: list[Tree], patch: list[Tree], field: Structure) -> list[Any]:
    key = field.merge_key
    plain: list[Tree] = []
    replace = False
    for item in patch:
        match item.get(_PATCH, MISSING):
            case directive if directive is MISSING:
                plain.append(item)
            case "delete":
                unwanted = identity(item, key)
                current = [other for other in current if other.get(key) != unwanted]
            case "replace":
                replace = True
            case "merge":
                raise DirectiveMistake("merging lists cannot yet be specified in the patch")
            case directive:
                raise DirectiveMistake(
                    f"unknown patch type: {go_text(directive)} in map: {go_text(item)}"
                )
    if replace:
        return plain
    merged: list[Any] = list(current)
    for item in plain:
        wanted = identity(item, key)
        for index, other in enumerate(merged):
            if other.get(key) == wanted:
                merged[index] = _merge_object(other, item, field.items)
                break
        else:
            kept = _without_directives(without_nulls(item))
            if kept is not MISSING:
                merged.append(kept)
    return merged


def _order_lists(tree: Tree, patch: Tree, structure: Structure | None) -> None:
    """Merge the lists for which the patch gives an order, and put them in that order."""
    for directive in [key for key in patch if key.startswith(_SET_ORDER)]:
        wanted = patch.pop(directive)
        if not isinstance(wanted, list):
            raise DirectiveMistake(f"expected a []interface {{}}, but received a {go_kind(wanted)}")
        name = directive.removeprefix(_SET_ORDER)
        field = _field(structure, name)
        if field is None or field.type != "list":
            owner = structure.go_name if structure is not None else ""
            raise DirectiveMistake(
                f'unable to find api field in struct {owner} for the json field "{name}"'
            )
        current, given = tree.get(name), patch.get(name)
        if isinstance(given, list):
            in_order(given, wanted, field.merge_key)
        if isinstance(current, list):
            merged = (
                _merged_items(current, given, field) if isinstance(given, list) else list(current)
            )
        elif isinstance(given, list):
            merged = _without_directives(without_nulls(given))
        else:
            continue
        tree[name] = by_patch_order(merged, wanted, current or [], field.merge_key)
        patch.pop(name, None)

"""JSON patch (RFC 6902), with the liberties that the real server takes.

``replace`` of a member that is missing adds it, negative positions count from the end, and any
failure is refused with the same words.

Source: evanphx/json-patch v4 as used by kube-apiserver v1.36.
"""

from __future__ import annotations

import copy
import re
from typing import Any, Final

from windtunnel.machinery.errors import BadRequest, TooLarge
from windtunnel.machinery.patches.refusals import DECODING, PatchFailed, not_a
from windtunnel.machinery.schema.structure import MISSING
from windtunnel.machinery.tree import Tree, decode, encode

_MOST_OPERATIONS: Final = 10_000
_MOST_COPIED_BYTES: Final = 3 * 1024 * 1024
_POSITION: Final = re.compile(r"[+-]?[0-9]{1,9}")


def json_patch(tree: Any, operations: Any) -> Any:
    """Apply the operations in order and return the patched tree.

    Raises:
        BadRequest: The patch is no list of operations.
        PatchFailed: An operation does not fit, a test fails, or too much is copied.
        TooLarge: There are more than 10,000 operations.
    """
    steps = _steps(operations)
    if len(steps) > _MOST_OPERATIONS:
        raise TooLarge(
            "Request entity is too large: The allowed maximum operations in a JSON patch is "
            f"{_MOST_OPERATIONS}, got {len(steps)}",
            details={},
        )
    copied = 0
    for operation in steps:
        try:
            if operation.get("op") == "copy":
                copied += _copy(tree, operation)
            else:
                tree = _apply(tree, operation)
        except RecursionError:
            raise PatchFailed from None
        if copied > _MOST_COPIED_BYTES:
            raise PatchFailed
    return tree


def _steps(operations: Any) -> list[Tree]:
    """Return the operations; null is none at all."""
    if operations is None:
        return []
    if not isinstance(operations, list):
        raise BadRequest(DECODING + not_a(operations, "[]handlers.jsonPatchOp"))
    for operation in operations:
        if not isinstance(operation, dict):
            raise BadRequest(DECODING + not_a(operation, "handlers.jsonPatchOp"))
    return operations


def _apply(tree: Any, operation: Tree) -> Any:
    path = _pointer(operation.get("path"))
    match operation.get("op"):
        case "add":
            _add(tree, path, _value(operation))
        case "replace":
            if not path:
                return _value(operation)
            _replace(tree, path, _value(operation))
        case "remove":
            _remove(tree, path)
        case "move":
            _add(tree, path, _remove(tree, _pointer(operation.get("from"))))
        case "test":
            found = _read(tree, path)
            if not _same(None if found is MISSING else found, operation.get("value")):
                raise PatchFailed
        case _:
            raise PatchFailed
    return tree


def _copy(tree: Any, operation: Tree) -> int:
    """Copy what stands at one place to another; return how many bytes of JSON that were."""
    path = _pointer(operation.get("path"))
    source = _read(tree, _pointer(operation.get("from")))
    copied = encode(None if source is MISSING else source)
    _add(tree, path, decode(copied))
    return len(copied)


def _value(operation: Tree) -> Any:
    # The operations may be applied again after a race, so what enters the tree is a copy.
    value = operation.get("value")
    return copy.deepcopy(value) if isinstance(value, (dict, list)) else value


def _pointer(text: Any) -> list[str]:
    """Return the steps of a JSON pointer; [] is the whole document."""
    if not isinstance(text, str):
        raise PatchFailed
    # What stands before the first slash is passed over.
    steps = text.split("/")[1:]
    if text and not steps:
        raise PatchFailed
    return [step.replace("~1", "/").replace("~0", "~") for step in steps]


def _position(step: str, size: int) -> int:
    """Return a position in a list of this size; negative ones count from the end."""
    if not _POSITION.fullmatch(step):
        raise PatchFailed
    position = int(step)
    if not -size <= position < size:
        raise PatchFailed
    return position if position >= 0 else position + size


def _step(tree: Any, step: str) -> Any:
    if isinstance(tree, dict):
        return tree.get(step, MISSING)
    if isinstance(tree, list):
        return tree[_position(step, len(tree))]
    raise PatchFailed


def _parent(tree: Any, path: list[str]) -> Any:
    if not path:
        raise PatchFailed
    for step in path[:-1]:
        tree = _step(tree, step)
        if tree is MISSING:
            raise PatchFailed
    return tree


def _read(tree: Any, path: list[str]) -> Any:
    return _step(_parent(tree, path), path[-1]) if path else tree


def _add(tree: Any, path: list[str], value: Any) -> None:
    parent = _parent(tree, path)
    if isinstance(parent, dict):
        parent[path[-1]] = value
    elif isinstance(parent, list):
        if path[-1] == "-":
            parent.append(value)
        else:
            parent.insert(_position(path[-1], len(parent) + 1), value)
    else:
        raise PatchFailed


def _replace(tree: Any, path: list[str], value: Any) -> None:
    parent = _parent(tree, path)
    if isinstance(parent, dict):
        parent[path[-1]] = value
    elif isinstance(parent, list):
        parent[_position(path[-1], len(parent))] = value
    else:
        raise PatchFailed


def _remove(tree: Any, path: list[str]) -> Any:
    parent = _parent(tree, path)
    if isinstance(parent, dict):
        if path[-1] not in parent:
            raise PatchFailed
        return parent.pop(path[-1])
    if isinstance(parent, list):
        return parent.pop(_position(path[-1], len(parent)))
    raise PatchFailed


def _same(left: Any, right: Any) -> bool:
    """Compare as JSON does: true is not 1, but 1.0 is."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right)

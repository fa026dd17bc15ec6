"""ConfigMaps: small texts and bytes by key, frozen when they say so."""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.rules.checks import age_cell, each, name_cell
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import Violation, forbidden, invalid, too_long

MOST_BYTES: Final = 1024 * 1024
FROZEN: Final = "field is immutable when `immutable` is set"


def encoded_size(value: str) -> int:
    """Return how many bytes a base64 text stands for."""
    return len(value) * 3 // 4 - value[-2:].count("=")


def frozen_changes(new: Tree, old: Tree, *parts: str) -> list[Violation]:
    """Judge a change of an object that was declared immutable."""
    if not old.get("immutable"):
        return []
    found = [] if new.get("immutable") else [forbidden("immutable", FROZEN)]
    for part in parts:
        if (new.get(part) or {}) != (old.get(part) or {}):
            found.append(forbidden(part, FROZEN))
    return found


def _validate(tree: Tree) -> list[Violation]:
    found: list[Violation] = []
    texts, blobs = tree.get("data") or {}, tree.get("binaryData") or {}
    size = 0
    for key, value in texts.items():
        found += each(names.config_key(key), f"data[{key}]", key)
        if key in blobs:
            found.append(invalid(f"data[{key}]", key, "duplicate of key present in binaryData"))
        size += len(value.encode())
    for key, value in blobs.items():
        found += each(names.config_key(key), f"binaryData[{key}]", key)
        size += encoded_size(value)
    if size > MOST_BYTES:
        found.append(too_long("[]", MOST_BYTES))
    return found


def _validate_update(new: Tree, old: Tree) -> list[Violation]:
    return frozen_changes(new, old, "data", "binaryData") + _validate(new)


def _cells(tree: Tree, now: float) -> list[Any]:
    count = len(tree.get("data") or ()) + len(tree.get("binaryData") or ())
    return [name_cell(tree), count, age_cell(tree, now)]


DECLARATIONS: Final = {
    "configmaps": Declared(
        metadata_judged=(1, 1),
        rules=Rules(validate_create=_validate, validate_update=_validate_update, cells=_cells),
    )
}

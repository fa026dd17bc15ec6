"""The fields of ``metadata`` that belong to the server: their order, and who may not touch them."""

from __future__ import annotations

from typing import Final

from windtunnel.machinery.tree import Tree

_ORDER: Final = (
    "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation",
    "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "labels",
    "annotations", "ownerReferences", "finalizers", "managedFields",
)  # fmt: skip
_KEPT: Final = (
    "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation",
    "selfLink",
)  # fmt: skip


def ordered(metadata: Tree) -> Tree:
    """Return the metadata in the order in which the API writes it, empty fields left out."""
    found = {}
    for field in _ORDER:
        value = metadata.get(field)
        if value or (value == 0 and field == "deletionGracePeriodSeconds" and value is not None):
            found[field] = value
    return found


def keep_system_fields(new: Tree, old: Tree) -> None:
    """Give ``new`` what the server alone writes, and the uid where the client left it out."""
    for field in _KEPT:
        if field in old:
            new[field] = old[field]
        else:
            new.pop(field, None)
    if not new.get("uid"):
        new["uid"] = old["uid"]

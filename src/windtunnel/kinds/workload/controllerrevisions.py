"""Controller revisions: the remembered templates of stateful and daemon sets.

Source: apps/v1 of v1.36.3.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.rules import checks
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import Violation, required


def _validate(tree: Tree) -> list[Violation]:
    found = checks.not_negative(tree.get("revision"), "revision")
    if tree.get("data") is None:
        found.append(required("data", "data is mandatory"))
    elif not isinstance(tree["data"], dict):
        found.append(required("data", "data must be a valid JSON object"))
    return found


def _validate_update(new: Tree, old: Tree) -> list[Violation]:
    found = checks.not_negative(new.get("revision"), "revision")
    return found + checks.immutable(new.get("data"), old.get("data"), "data")


def _cells(tree: Tree, now: float) -> list[Any]:
    owners = dig(tree, "metadata", "ownerReferences") or []
    owner = next((owner for owner in owners if owner.get("controller")), None)
    controller = "<none>"
    if owner is not None:
        group = owner.get("apiVersion", "").rpartition("/")[0]
        kind = f"{owner.get('kind', '')}.{group}" if group else owner.get("kind", "")
        controller = f"{kind.lower()}/{owner.get('name', '')}"
    return [
        checks.name_cell(tree),
        controller,
        tree.get("revision", 0),
        checks.age_cell(tree, now),
    ]


RULES: Final = Rules(
    validate_create=_validate,
    validate_update=_validate_update,
    cells=_cells,
)
DECLARATIONS: Final = {"controllerrevisions.apps": Declared(rules=RULES)}

"""Runtime classes: which runtime a pod's containers get, and what that costs.

Source: node.k8s.io/v1 of v1.36.3.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.pod.scheduling import validate_tolerations
from windtunnel.kinds.rules import checks
from windtunnel.kinds.rules.metadata import validate_labels
from windtunnel.kinds.rules.resource_names import validate_requirements
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import Violation, duplicate


def _validate_tolerations(tolerations: list[Tree], field: str) -> list[Violation]:
    found = validate_tolerations(tolerations, field)
    seen: set[tuple[str, ...]] = set()
    for index, toleration in enumerate(tolerations):
        key = tuple(toleration.get(part) or "" for part in ("key", "operator", "value", "effect"))
        if key in seen:
            found.append(duplicate(f"{field}[{index}]", checks.go_value(toleration)))
        seen.add(key)
    return found


def _validate(tree: Tree) -> list[Violation]:
    found = checks.named(tree.get("handler"), "handler", names.dns_label)
    fixed = dig(tree, "overhead", "podFixed")
    if fixed:
        found += validate_requirements({"limits": fixed}, "overhead")
    scheduling = tree.get("scheduling") or {}
    if scheduling.get("nodeSelector"):
        found += validate_labels(scheduling["nodeSelector"], "scheduling.nodeSelector")
    tolerations = scheduling.get("tolerations") or []
    return found + _validate_tolerations(tolerations, "scheduling.tolerations")


def _validate_update(new: Tree, old: Tree) -> list[Violation]:
    return checks.immutable(new.get("handler"), old.get("handler"), "handler")


def _cells(tree: Tree, now: float) -> list[Any]:
    return [checks.name_cell(tree), tree.get("handler") or "", checks.age_cell(tree, now)]


RULES: Final = Rules(
    validate_create=_validate,
    validate_update=_validate_update,
    cells=_cells,
)
DECLARATIONS: Final = {
    "runtimeclasses.node.k8s.io": Declared(
        creates_on_put=True, needs_revision_on_put=True, rules=RULES
    )
}

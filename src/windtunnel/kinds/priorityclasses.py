"""Priority classes: names for numbers by which pods outrank each other.

Source: scheduling.k8s.io/v1 of v1.36.3.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.rules import checks
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import Violation, forbidden

HIGHEST_USER_PRIORITY: Final = 1_000_000_000
SYSTEM_PREFIX: Final = "system-"
SYSTEM_CLASSES: Final = {
    "system-node-critical": 2_000_001_000,
    "system-cluster-critical": 2_000_000_000,
}
_POLICIES: Final = ["PreemptLowerPriority", "Never"]


def _default(tree: Tree) -> None:
    if tree.get("preemptionPolicy") is None:
        tree["preemptionPolicy"] = "PreemptLowerPriority"


def _system_problem(name: str, tree: Tree) -> str:
    if name not in SYSTEM_CLASSES:
        return f"{name} is not a known system priority class"
    if tree.get("value", 0) != SYSTEM_CLASSES[name]:
        return f"value of {name} PriorityClass must be {SYSTEM_CLASSES[name]}"
    if tree.get("globalDefault"):
        return f"globalDefault of {name} PriorityClass must be false"
    return ""


def _validate(tree: Tree) -> list[Violation]:
    name = checks.name_cell(tree)
    found: list[Violation] = []
    if name.startswith(SYSTEM_PREFIX):
        problem = _system_problem(name, tree)
        if problem:
            text = f"priority class names with '{SYSTEM_PREFIX}' prefix are reserved for system"
            found.append(forbidden("metadata.name", f"{text} use only. error: {problem}"))
    elif tree.get("value", 0) > HIGHEST_USER_PRIORITY:
        text = f"maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}"
        found.append(forbidden("value", text))
    policy = tree.get("preemptionPolicy")
    if policy is not None:
        found += checks.one_of_needed(policy, "preemptionPolicy", _POLICIES)
    return found


def _validate_update(new: Tree, old: Tree) -> list[Violation]:
    found: list[Violation] = []
    if new.get("value", 0) != old.get("value", 0):
        found.append(forbidden("value", "may not be changed in an update."))
    policy, before = new.get("preemptionPolicy"), old.get("preemptionPolicy")
    return found + checks.immutable(policy, before, "preemptionPolicy")


def _cells(tree: Tree, now: float) -> list[Any]:
    return [
        checks.name_cell(tree),
        tree.get("value", 0),
        tree.get("globalDefault", False),
        checks.age_cell(tree, now),
        tree.get("preemptionPolicy") or "",
    ]


RULES: Final = Rules(
    default=_default,
    validate_create=_validate,
    validate_update=_validate_update,
    cells=_cells,
)
DECLARATIONS: Final = {
    "priorityclasses.scheduling.k8s.io": Declared(generation="spec", rules=RULES)
}

"""Pod disruption budgets: how many pods of a set may be evicted at once.

The status is the controller's; the eviction subresource reads and lowers it.
Source: policy/v1 of v1.36.3.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.rules import checks
from windtunnel.kinds.rules.checks import at_most_all, int_or_percent, none_negative
from windtunnel.kinds.rules.conditions import validate_conditions
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.machinery.selectors import validate_label_selector
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import (
    Violation,
    invalid,
)


def _empty_status() -> Tree:
    return {"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0}


def _validate(tree: Tree) -> list[Violation]:
    spec = tree.get("spec") or {}
    found: list[Violation] = []
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        text = "minAvailable and maxUnavailable cannot be both set"
        found.append(invalid("spec", checks.go_value(spec), text))
    for key in ("minAvailable", "maxUnavailable"):
        if spec.get(key) is not None:
            found += int_or_percent(spec[key], f"spec.{key}")
            found += at_most_all(spec[key], f"spec.{key}")
    found += validate_label_selector(spec.get("selector"), "spec.selector")
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None:
        allowed = ["AlwaysAllow", "IfHealthyBudget"]
        found += checks.one_of(policy, "spec.unhealthyPodEvictionPolicy", allowed)
    return found


def _validate_update(new: Tree, _: Tree) -> list[Violation]:
    return _validate(new)


def _validate_status(new: Tree, _: Tree) -> list[Violation]:
    status = new.get("status") or {}
    found = validate_conditions(status.get("conditions"), "status.conditions")
    return found + none_negative(
        status, "status", "disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"
    )


def _cells(tree: Tree, now: float) -> list[Any]:
    spec, status = tree.get("spec") or {}, tree.get("status") or {}
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    return [
        checks.name_cell(tree),
        "N/A" if least is None else str(least),
        "N/A" if most is None else str(most),
        status.get("disruptionsAllowed", 0),
        checks.age_cell(tree, now),
    ]


RULES: Final = Rules(
    prepare_create=checks.without_status(_empty_status),
    prepare_update=checks.keep_status,
    validate_create=_validate,
    validate_update=_validate_update,
    validate_status=_validate_status,
    cells=_cells,
)
DECLARATIONS: Final = {
    "poddisruptionbudgets.policy": Declared(
        generation="spec", needs_revision_on_put=True, rules=RULES
    )
}

"""Deployments: a desired number of equal pods, renewed step by step.

Source: apps/v1 of v1.36.3. Labels and revisions on replica sets come from the controller.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.pod.template import (
    default_template,
    drop_disabled,
    replica_warnings,
)
from windtunnel.kinds.rules import checks
from windtunnel.kinds.rules.checks import none_negative, not_negative
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.kinds.workload.replica_rules import (
    selector_stays,
    validate_counters,
    validate_replica_template,
)
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import (
    Violation,
    forbidden,
    invalid,
    not_supported,
)

_ROLLING: Final = "spec.strategy.rollingUpdate"
_COUNTERS: Final = (
    "observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
    "unavailableReplicas", "terminatingReplicas", "collisionCount",
)  # fmt: skip


def _default(tree: Tree) -> None:
    spec = tree.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("progressDeadlineSeconds", 600)
    strategy = spec.setdefault("strategy", {})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        rolling = strategy.get("rollingUpdate") or {}
        strategy["rollingUpdate"] = rolling
        rolling.setdefault("maxUnavailable", "25%")
        rolling.setdefault("maxSurge", "25%")
    default_template(spec.setdefault("template", {}))
    drop_disabled(spec["template"]["spec"])


def _validate_strategy(strategy: Tree) -> list[Violation]:
    match strategy.get("type"):
        case "Recreate":
            if strategy.get("rollingUpdate") is None:
                return []
            text = "may not be specified when strategy `type` is 'Recreate'"
            return [forbidden(_ROLLING, text)]
        case "RollingUpdate":
            return _validate_rolling(strategy.get("rollingUpdate") or {})
    shown = {"Type": strategy.get("type"), "RollingUpdate": None}
    return [not_supported("spec.strategy", shown, ["Recreate", "RollingUpdate"])]


def _validate_rolling(rolling: Tree) -> list[Violation]:
    gone, extra = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    found = checks.int_or_percent(gone, f"{_ROLLING}.maxUnavailable")
    found += checks.int_or_percent(extra, f"{_ROLLING}.maxSurge")
    if checks.amount(gone) == 0 and checks.amount(extra) == 0:
        text = "may not be 0 when `maxSurge` is 0"
        found.append(invalid(f"{_ROLLING}.maxUnavailable", gone, text))
    return found + checks.at_most_all(gone, f"{_ROLLING}.maxUnavailable")


def _validate(tree: Tree) -> list[Violation]:
    spec = tree.get("spec") or {}
    found = not_negative(spec.get("replicas"), "spec.replicas")
    found += checks.selector_and_template(
        spec, "spec", validate_replica_template, empty="deployment"
    )
    found += _validate_strategy(spec.get("strategy") or {})
    found += none_negative(spec, "spec", "minReadySeconds", "revisionHistoryLimit")
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None:
        found += not_negative(deadline, "spec.progressDeadlineSeconds")
        if deadline <= (spec.get("minReadySeconds") or 0):
            text = "must be greater than minReadySeconds"
            found.append(invalid("spec.progressDeadlineSeconds", deadline, text))
    return found


def _validate_update(new: Tree, old: Tree) -> list[Violation]:
    return _validate(new) + selector_stays(new, old)


def _validate_status(new: Tree, old: Tree) -> list[Violation]:
    found = validate_counters(
        new.get("status") or {},
        _COUNTERS,
        ("updatedReplicas", "readyReplicas", "availableReplicas"),
    )
    return found + checks.never_fewer_collisions(new, old)


def _cells(tree: Tree, now: float) -> list[Any]:
    spec, status = tree.get("spec") or {}, tree.get("status") or {}
    return [
        checks.name_cell(tree),
        f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}",
        status.get("updatedReplicas", 0),
        status.get("availableReplicas", 0),
        checks.age_cell(tree, now),
        *checks.container_cells(spec.get("template") or {}),
        checks.selector_cell(spec.get("selector")),
    ]


RULES: Final = Rules(
    default=_default,
    prepare_create=checks.without_status(),
    prepare_update=checks.keep_status,
    validate_create=_validate,
    validate_update=_validate_update,
    validate_status=_validate_status,
    warnings=replica_warnings,
    cells=_cells,
)
DECLARATIONS: Final = {"deployments.apps": Declared(generation="spec", rules=RULES)}

"""Replica sets: a number of equal pods, the hands of deployments.

Source: apps/v1 of v1.36.3.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.pod.template import (
    default_template,
    drop_disabled,
    replica_warnings,
)
from windtunnel.kinds.rules import checks
from windtunnel.kinds.rules.checks import none_negative
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.kinds.workload.replica_rules import (
    selector_stays,
    validate_counters,
    validate_replica_template,
)
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import Violation

_COUNTERS: Final = (
    "replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas",
    "terminatingReplicas", "observedGeneration",
)  # fmt: skip


def _default(tree: Tree) -> None:
    spec = tree.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    default_template(spec.setdefault("template", {}))
    drop_disabled(spec["template"]["spec"])


def _empty_status() -> Tree:
    return {"replicas": 0}


def _validate(tree: Tree) -> list[Violation]:
    spec = tree.get("spec") or {}
    found = none_negative(spec, "spec", "replicas", "minReadySeconds")
    # The real server says "deployment" here too.
    return found + checks.selector_and_template(
        spec, "spec", validate_replica_template, empty="deployment"
    )


def _validate_update(new: Tree, old: Tree) -> list[Violation]:
    return _validate(new) + selector_stays(new, old)


def _validate_status(new: Tree, _: Tree) -> list[Violation]:
    return validate_counters(
        new.get("status") or {},
        _COUNTERS,
        ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"),
    )


def _cells(tree: Tree, now: float) -> list[Any]:
    spec, status = tree.get("spec") or {}, tree.get("status") or {}
    return [
        checks.name_cell(tree),
        spec.get("replicas", 0),
        status.get("replicas", 0),
        status.get("readyReplicas", 0),
        checks.age_cell(tree, now),
        *checks.container_cells(spec.get("template") or {}),
        checks.selector_cell(spec.get("selector")),
    ]


RULES: Final = Rules(
    default=_default,
    prepare_create=checks.without_status(_empty_status),
    prepare_update=checks.keep_status,
    validate_create=_validate,
    validate_update=_validate_update,
    validate_status=_validate_status,
    warnings=replica_warnings,
    cells=_cells,
)
DECLARATIONS: Final = {"replicasets.apps": Declared(generation="spec", rules=RULES)}

"""Stateful sets: numbered pods, each with claims of its own.

Source: apps/v1 of v1.36.3.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.pod.template import (
    default_template,
    drop_disabled,
    template_warnings,
    validate_template,
)
from windtunnel.kinds.rules import checks
from windtunnel.kinds.rules.checks import none_negative, not_negative
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.kinds.workload.replica_rules import validate_counters
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    forbidden,
    invalid,
    required,
)

_TEMPLATE: Final = "spec.template"
_UPDATE: Final = "spec.updateStrategy"
_COUNTERS: Final = (
    "replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas",
    "observedGeneration", "collisionCount",
)  # fmt: skip
_RETENTION: Final = "spec.persistentVolumeClaimRetentionPolicy"
_CHANGEABLE: Final = frozenset(
    {
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
    }
)
_FIXED: Final = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template',"
    " 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and"
    " 'minReadySeconds' are forbidden"
)


def _default(tree: Tree) -> None:
    spec = tree.setdefault("spec", {})
    spec.setdefault("podManagementPolicy", "OrderedReady")
    update = spec.setdefault("updateStrategy", {})
    if update.setdefault("type", "RollingUpdate") == "RollingUpdate":
        rolling = update.get("rollingUpdate") or {}
        update["rollingUpdate"] = rolling
        rolling.setdefault("partition", 0)
        rolling.pop("maxUnavailable", None)  # behind a gate that is off
    retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    retention.setdefault("whenDeleted", "Retain")
    retention.setdefault("whenScaled", "Retain")
    spec.setdefault("replicas", 1)
    spec.setdefault("revisionHistoryLimit", 10)
    default_template(spec.setdefault("template", {}))
    drop_disabled(spec["template"]["spec"])
    for claim in spec.get("volumeClaimTemplates") or ():
        claim.setdefault("apiVersion", "v1")
        claim.setdefault("kind", "PersistentVolumeClaim")
        claim.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")
        claim.setdefault("status", {}).setdefault("phase", "Pending")


def _empty_status() -> Tree:
    return {"replicas": 0, "availableReplicas": 0}


def _validate_update_strategy(strategy: Tree) -> list[Violation]:
    rolling = strategy.get("rollingUpdate")
    match strategy.get("type"):
        case None | "":
            return [required(_UPDATE)]
        case "OnDelete":
            if rolling is None:
                return []
            shown = {
                "Partition": rolling.get("partition"),
                "MaxUnavailable": rolling.get("maxUnavailable"),
            }
            text = "only allowed for updateStrategy 'RollingUpdate'"
            return [invalid(f"{_UPDATE}.rollingUpdate", shown, text)]
        case "RollingUpdate":
            partition = (rolling or {}).get("partition")
            return not_negative(partition, f"{_UPDATE}.rollingUpdate.partition")
    shown = {"Type": strategy.get("type"), "RollingUpdate": None}
    return [invalid(_UPDATE, shown, "must be 'RollingUpdate' or 'OnDelete'")]


def _validate_template(template: Tree) -> list[Violation]:
    found = validate_template(template, _TEMPLATE)
    return found + checks.always_restarts(template, _TEMPLATE, "StatefulSet")


def _validate(tree: Tree) -> list[Violation]:
    spec = tree.get("spec") or {}
    found: list[Violation] = []
    policy = spec.get("podManagementPolicy")
    if not policy:
        found.append(required("spec.podManagementPolicy"))
    elif policy not in ("OrderedReady", "Parallel"):
        text = "must be 'OrderedReady' or 'Parallel'"
        found.append(invalid("spec.podManagementPolicy", policy, text))
    found += _validate_update_strategy(spec.get("updateStrategy") or {})
    retention = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    for moment in ("whenDeleted", "whenScaled"):
        found += checks.one_of(
            retention.get(moment, ""), f"{_RETENTION}.{moment}", ["Retain", "Delete"]
        )
    found += none_negative(spec, "spec", "replicas", "minReadySeconds")
    found += not_negative(dig(spec, "ordinals", "start"), "spec.ordinals.start")
    return found + checks.selector_and_template(
        spec, "spec", _validate_template, empty="statefulset"
    )


def _validate_create(tree: Tree) -> list[Violation]:
    service = dig(tree, "spec", "serviceName")
    found = _validate(tree)
    if service:
        found += checks.each(names.dns_label(service), "spec.serviceName", service)
    return found


def _validate_update(new: Tree, old: Tree) -> list[Violation]:
    found = _validate(new)
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    if any(spec.get(key) != before.get(key) for key in (spec.keys() | before.keys()) - _CHANGEABLE):
        found.append(forbidden("spec", _FIXED))
    return found


def _validate_status(new: Tree, old: Tree) -> list[Violation]:
    found = validate_counters(
        new.get("status") or {},
        _COUNTERS,
        ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"),
        "status.readyReplicas",
    )
    return found + checks.never_fewer_collisions(new, old)


def _warnings(new: Tree, old: Tree | None) -> list[str]:
    spec = new.get("spec") or {}
    template = spec.get("template") or {}
    found: list[str] = []
    if old is None or template != dig(old, "spec", "template"):
        found = template_warnings(template, _TEMPLATE)
    if (spec.get("revisionHistoryLimit") or 0) < 0:
        found.append(
            "spec.revisionHistoryLimit: a negative value retains all historical revisions;"
            " a value >= 0 is recommended"
        )
    return found


def _cells(tree: Tree, now: float) -> list[Any]:
    spec, status = tree.get("spec") or {}, tree.get("status") or {}
    return [
        checks.name_cell(tree),
        f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}",
        checks.age_cell(tree, now),
        *checks.container_cells(spec.get("template") or {}),
    ]


RULES: Final = Rules(
    default=_default,
    prepare_create=checks.without_status(_empty_status),
    prepare_update=checks.keep_status,
    validate_create=_validate_create,
    validate_update=_validate_update,
    validate_status=_validate_status,
    warnings=_warnings,
    cells=_cells,
)
DECLARATIONS: Final = {
    "statefulsets.apps": Declared(generation="spec", rules=RULES, name_rule=names.dns_label)
}

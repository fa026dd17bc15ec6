"""Daemon sets: one pod on every node that fits.

The generation of the template is kept in an annotation that the server alone writes.
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
from windtunnel.kinds.rules.checks import amount, at_most_all, int_or_percent, none_negative
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Context, Rules
from windtunnel.kinds.workload.replica_rules import selector_stays
from windtunnel.machinery.selectors import validate_label_selector
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    invalid,
    not_supported,
    required,
)

_TEMPLATE: Final = "spec.template"
_UPDATE: Final = "spec.updateStrategy"
_GENERATION: Final = "deprecated.daemonset.template.generation"


def _default(tree: Tree) -> None:
    spec = tree.setdefault("spec", {})
    update = spec.setdefault("updateStrategy", {})
    if update.setdefault("type", "RollingUpdate") == "RollingUpdate":
        rolling = update.get("rollingUpdate") or {}
        update["rollingUpdate"] = rolling
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
    spec.setdefault("revisionHistoryLimit", 10)
    default_template(spec.setdefault("template", {}))
    drop_disabled(spec["template"]["spec"])


def _generation(tree: Tree) -> int:
    text = str(dig(tree, "metadata", "annotations", _GENERATION) or "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0


def _set_generation(tree: Tree, number: int) -> None:
    metadata = tree.setdefault("metadata", {})
    metadata["annotations"] = {**(metadata.get("annotations") or {}), _GENERATION: str(number)}


def _prepare_create(tree: Tree, _: Context) -> None:
    tree["status"] = {
        "currentNumberScheduled": 0,
        "numberMisscheduled": 0,
        "desiredNumberScheduled": 0,
        "numberReady": 0,
    }
    _set_generation(tree, max(_generation(tree), 1))


def _prepare_update(new: Tree, old: Tree, context: Context) -> None:
    checks.keep_status(new, old, context)
    changed = dig(new, "spec", "template") != dig(old, "spec", "template")
    _set_generation(new, _generation(old) + (1 if changed else 0))


def _prepare_status(new: Tree, old: Tree, _: Context) -> None:
    _set_generation(new, _generation(old))


def _validate_rolling(rolling: Tree) -> list[Violation]:
    gone, extra = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    gone_field, extra_field = (
        f"{_UPDATE}.rollingUpdate.maxUnavailable",
        f"{_UPDATE}.rollingUpdate.maxSurge",
    )
    found = int_or_percent(gone, gone_field) + int_or_percent(extra, extra_field)
    found += at_most_all(gone, gone_field) + at_most_all(extra, extra_field)
    if amount(gone) and amount(extra):
        found.append(invalid(extra_field, extra, "may not be set when maxUnavailable is non-zero"))
    elif not amount(gone) and not amount(extra):
        found.append(required(gone_field, "cannot be 0 when maxSurge is 0"))
    return found


def _validate_update_strategy(strategy: Tree) -> list[Violation]:
    match strategy.get("type"):
        case "OnDelete":
            return []
        case "RollingUpdate":
            if strategy.get("rollingUpdate") is None:
                return [required(f"{_UPDATE}.rollingUpdate")]
            return _validate_rolling(strategy["rollingUpdate"])
    shown = {"Type": strategy.get("type"), "RollingUpdate": None}
    return [not_supported(_UPDATE, shown, ["RollingUpdate", "OnDelete"])]


def _validate(tree: Tree) -> list[Violation]:
    spec = tree.get("spec") or {}
    selector, template = spec.get("selector"), spec.get("template") or {}
    found = validate_label_selector(selector, "spec.selector")
    if not found:
        found = checks.selects(selector, template, _TEMPLATE)
    if selector is not None and not (
        selector.get("matchLabels") or selector.get("matchExpressions")
    ):
        text = "empty selector is invalid for daemonset"
        found.append(invalid("spec.selector", selector, text))
    found += validate_template(template, _TEMPLATE)
    found += checks.always_restarts(template, _TEMPLATE, "DaemonSet")
    found += none_negative(spec, "spec", "minReadySeconds")
    found += _validate_update_strategy(spec.get("updateStrategy") or {})
    return found + none_negative(spec, "spec", "revisionHistoryLimit")


def _validate_update(new: Tree, old: Tree) -> list[Violation]:
    return _validate(new) + selector_stays(new, old)


def _validate_status(new: Tree, old: Tree) -> list[Violation]:
    found = none_negative(
        new.get("status") or {},
        "status",
        "currentNumberScheduled",
        "numberMisscheduled",
        "desiredNumberScheduled",
        "numberReady",
        "observedGeneration",
        "updatedNumberScheduled",
        "numberAvailable",
        "numberUnavailable",
        "collisionCount",
    )
    return found + checks.never_fewer_collisions(new, old)


def _warnings(new: Tree, old: Tree | None) -> list[str]:
    template = dig(new, "spec", "template") or {}
    if old is not None and template == dig(old, "spec", "template"):
        return []
    return template_warnings(template, _TEMPLATE)


def _cells(tree: Tree, now: float) -> list[Any]:
    spec, status = tree.get("spec") or {}, tree.get("status") or {}
    wanted = dig(spec, "template", "spec", "nodeSelector") or {}
    return [
        checks.name_cell(tree),
        status.get("desiredNumberScheduled", 0),
        status.get("currentNumberScheduled", 0),
        status.get("numberReady", 0),
        status.get("updatedNumberScheduled", 0),
        status.get("numberAvailable", 0),
        ",".join(f"{key}={wanted[key]}" for key in sorted(wanted)) or "<none>",
        checks.age_cell(tree, now),
        *checks.container_cells(spec.get("template") or {}),
        checks.selector_cell(spec.get("selector")),
    ]


RULES: Final = Rules(
    default=_default,
    prepare_create=_prepare_create,
    prepare_update=_prepare_update,
    prepare_status=_prepare_status,
    validate_create=_validate,
    validate_update=_validate_update,
    validate_status=_validate_status,
    warnings=_warnings,
    cells=_cells,
)
DECLARATIONS: Final = {"daemonsets.apps": Declared(generation="spec", rules=RULES)}

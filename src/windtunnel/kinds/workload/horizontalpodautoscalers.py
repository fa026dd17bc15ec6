"""Horizontal pod autoscalers: a number of replicas that follows metrics.

Stored as autoscaling/v2; what v1 makes of it stands in ``horizontalpodautoscalers_v1``.
Source: autoscaling/v2 of v1.36.3.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.rules import checks
from windtunnel.kinds.rules.checks import none_negative
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.kinds.workload import horizontalpodautoscalers_v1 as v1
from windtunnel.machinery import names, quantity
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    forbidden,
    invalid,
    not_supported,
    required,
)

_SOURCES: Final = ["ContainerResource", "External", "Object", "Pods", "Resource"]
_SOURCE_FIELDS: Final = ("object", "external", "pods", "resource", "containerResource")
_TARGETS: Final = ("Utilization", "Value", "AverageValue")
_LONGEST_WINDOW: Final = 3600
_LONGEST_PERIOD: Final = 1800
_NEITHER: Final = "must set either a target raw value or a target utilization"
_BOTH: Final = "may not set both a target raw value and a target utilization"
_EXTERNAL_NEITHER: Final = "must set either a target value for metric or a per-pod target"
_EXTERNAL_BOTH: Final = "may not set both a target value for metric and a per-pod target"


def _default(tree: Tree) -> None:
    spec = tree.setdefault("spec", {})
    if spec.get("minReplicas") is None:
        spec["minReplicas"] = 1
    if not spec.get("metrics"):
        spec["metrics"] = [v1.cpu_metric(v1.DEFAULT_UTILIZATION)]
    behavior = spec.get("behavior")
    if behavior is not None:
        behavior["scaleUp"] = _filled(behavior.get("scaleUp"), up=True)
        behavior["scaleDown"] = _filled(behavior.get("scaleDown"), up=False)


def _filled(given: Tree | None, *, up: bool) -> Tree:
    """Return scaling rules with what the user left out."""
    rules: Tree = {"selectPolicy": "Max"}
    percent = {"type": "Percent", "value": 100, "periodSeconds": 15}
    if up:
        rules["stabilizationWindowSeconds"] = 0
        rules["policies"] = [{"type": "Pods", "value": 4, "periodSeconds": 15}, percent]
    else:
        # How long scaling down waits is a setting of the controller.
        rules["policies"] = [percent]
    return rules | {key: value for key, value in (given or {}).items() if value is not None}


def _validate_spec(spec: Tree) -> list[Violation]:
    least, most = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    found: list[Violation] = []
    if least is not None and least < 1:
        found.append(invalid("spec.minReplicas", least, "must be greater than or equal to 1"))
    if most == 0:
        found.append(required("spec.maxReplicas", "must be set and greater than 0"))
    elif most < 0:
        found.append(invalid("spec.maxReplicas", most, "must be greater than or equal to 1"))
    if least is not None and most < least:
        text = "must be greater than or equal to `minReplicas`"
        found.append(invalid("spec.maxReplicas", most, text))
    target = spec.get("scaleTargetRef") or {}
    found += _validate_reference(target, "spec.scaleTargetRef")
    found += _validate_metrics(spec.get("metrics") or [], least)
    behavior = spec.get("behavior") or {}
    for direction in ("scaleUp", "scaleDown"):
        if behavior.get(direction) is not None:
            found += _validate_rules(behavior[direction], f"spec.behavior.{direction}")
    return found


def _validate_reference(reference: Tree, field: str) -> list[Violation]:
    found: list[Violation] = []
    for key in ("kind", "name"):
        found += checks.named(reference.get(key), f"{field}.{key}", names.path_segment)
    version = reference.get("apiVersion") or ""
    core = version == "v1" and reference.get("kind") == "ReplicationController"
    if version.count("/") > 1:
        text = f"unexpected GroupVersion string: {version}"
        found.append(invalid(f"{field}.apiVersion", version, text))
    elif not version.rpartition("/")[0] and not core:
        text = "apiVersion must specify API group"
        found.append(invalid(f"{field}.apiVersion", version, text))
    return found


def _validate_metrics(metrics: list[Tree], least: int | None) -> list[Violation]:
    found: list[Violation] = []
    for index, metric in enumerate(metrics):
        found += _validate_metric(metric, f"spec.metrics[{index}]")
    if least == 0 and not any(m.get("type") in ("Object", "External") for m in metrics):
        text = "must specify at least one Object or External metric to support scaling to zero"
        found.append(forbidden("spec.metrics", f"{text} replicas"))
    return found


def _validate_metric(metric: Tree, field: str) -> list[Violation]:
    kind = metric.get("type") or ""
    found: list[Violation] = []
    if not kind:
        found.append(required(f"{field}.type", "must specify a metric source type"))
    if kind not in _SOURCES:
        found.append(not_supported(f"{field}.type", kind, _SOURCES))
    present = [name for name in _SOURCE_FIELDS if metric.get(name) is not None]
    if present:
        found += _validate_source(present[0], metric[present[0]], f"{field}.{present[0]}")
    expected = kind[:1].lower() + kind[1:]
    if kind in _SOURCES and expected not in present:
        text = "must populate information for the given metric source"
        found.append(required(f"{field}.{expected}", text))
    if len(present) != 1:
        for name in present:
            if name != expected:
                text = "must populate the given metric source only"
                found.append(forbidden(f"{field}.{name}", text))
    return found


def _validate_source(name: str, source: Tree, field: str) -> list[Violation]:
    target = source.get("target") or {}
    value, average = target.get("value"), target.get("averageValue")
    utilization = target.get("averageUtilization")
    judged = _validate_target(target, f"{field}.target")
    found: list[Violation] = []
    if name in ("object", "external", "pods"):
        metric = source.get("metric") or {}
        if name == "object":
            described = source.get("describedObject") or {}
            found += _validate_described(described, f"{field}.describedObject")
        found += _validate_metric_name(metric, f"{field}.metric") + judged
        where = f"{field}.target.averageValue"
        if name == "pods" and average is None:
            found.append(required(where, "must specify a positive target averageValue"))
        elif name == "object" and value is None and average is None:
            found.append(required(where, "must set either a target value or averageValue"))
        elif name == "external" and value is None and average is None:
            found.append(required(where, _EXTERNAL_NEITHER))
        elif name == "external" and value is not None and average is not None:
            found.append(forbidden(f"{field}.target.value", _EXTERNAL_BOTH))
        return found
    if not source.get("name"):
        found.append(required(f"{field}.name", "must specify a resource name"))
    if name == "containerResource":
        container = source.get("container")
        if not container:
            found.append(required(f"{field}.container", "must specify a container"))
        else:
            found += checks.each(names.dns_label(container), f"{field}.container", container)
    found += judged
    if utilization is None and average is None:
        found.append(required(f"{field}.target.averageUtilization", _NEITHER))
    if utilization is not None and average is not None:
        found.append(forbidden(f"{field}.target.averageValue", _BOTH))
    return found


def _validate_described(reference: Tree, field: str) -> list[Violation]:
    """A described object, unlike a scale target, may be of the core group."""
    found: list[Violation] = []
    for key in ("kind", "name"):
        found += checks.named(reference.get(key), f"{field}.{key}", names.path_segment)
    return found


def _validate_metric_name(metric: Tree, field: str) -> list[Violation]:
    name = metric.get("name") or ""
    if not name:
        return [required(f"{field}.name", "must specify a metric name")]
    return checks.each(names.path_segment(name), f"{field}.name", name)


def _validate_target(target: Tree, field: str) -> list[Violation]:
    kind = target.get("type") or ""
    found: list[Violation] = []
    if not kind:
        found.append(required(f"{field}.type", "must specify a metric target type"))
    if kind not in _TARGETS:
        text = "must be either Utilization, Value, or AverageValue"
        found.append(invalid(f"{field}.type", kind, text))
    for key in ("value", "averageValue"):
        amount = target.get(key)
        if amount is not None and quantity.parse(amount).nanos <= 0:
            found.append(invalid(f"{field}.{key}", quantity.canonical(amount), "must be positive"))
    percent = target.get("averageUtilization")
    if percent is not None and percent < 1:
        found.append(invalid(f"{field}.averageUtilization", percent, "must be greater than 0"))
    return found


def _validate_rules(rules: Tree, field: str) -> list[Violation]:
    window, select = rules.get("stabilizationWindowSeconds"), rules.get("selectPolicy")
    found: list[Violation] = []
    where = f"{field}.stabilizationWindowSeconds"
    if window is not None and window < 0:
        found.append(invalid(where, window, "must be greater than or equal to zero"))
    if window is not None and window > _LONGEST_WINDOW:
        text = f"must be less than or equal to {_LONGEST_WINDOW}"
        found.append(invalid(where, window, text))
    if select is not None:
        found += checks.one_of(select, f"{field}.selectPolicy", ["Disabled", "Max", "Min"])
    policies = rules.get("policies") or []
    if not policies:
        found.append(required(f"{field}.policies", "must specify at least one Policy"))
    for index, policy in enumerate(policies):
        found += _validate_policy(policy, f"{field}.policies[{index}]")
    tolerance = rules.get("tolerance")
    if tolerance is not None and quantity.parse(tolerance).nanos < 0:
        shown = quantity.canonical(tolerance)
        found.append(invalid(f"{field}.tolerance", shown, checks.NOT_NEGATIVE))
    return found


def _validate_policy(policy: Tree, field: str) -> list[Violation]:
    found = checks.one_of(policy.get("type") or "", f"{field}.type", ["Percent", "Pods"])
    for key in ("value", "periodSeconds"):
        number = policy.get(key) or 0
        if number <= 0:
            found.append(invalid(f"{field}.{key}", number, "must be greater than zero"))
    period = policy.get("periodSeconds") or 0
    if period > _LONGEST_PERIOD:
        text = f"must be less than or equal to {_LONGEST_PERIOD}"
        found.append(invalid(f"{field}.periodSeconds", period, text))
    return found


def _validate(tree: Tree) -> list[Violation]:
    return _validate_spec(tree.get("spec") or {})


def _validate_update(new: Tree, _: Tree) -> list[Violation]:
    return _validate(new)


def _validate_status(new: Tree, _: Tree) -> list[Violation]:
    return none_negative(new.get("status") or {}, "status", "currentReplicas", "desiredReplicas")


def _empty_status() -> Tree:
    return {"desiredReplicas": 0, "currentMetrics": None}


def _target_cell(metric: Tree, current: Tree | None) -> str:
    kind = metric.get("type") or ""
    if kind not in _SOURCES:
        return "<unknown type>"
    source = metric.get(kind[:1].lower() + kind[1:]) or {}
    target, now = source.get("target") or {}, (current or {}).get("current") or {}
    if kind in ("Resource", "ContainerResource"):
        name = source.get("name") or ""
        if target.get("averageValue") is not None:
            return f"{name}: {now.get('averageValue', '<unknown>')}/{target['averageValue']}"
        used, wanted = now.get("averageUtilization"), target.get("averageUtilization")
        shown = "<unknown>" if used is None else f"{used}%"
        return f"{name}: {shown}/{'<auto>' if wanted is None else f'{wanted}%'}"
    if kind == "Pods":
        return f"{now.get('averageValue', '<unknown>')}/{target.get('averageValue')}"
    if target.get("averageValue") is not None:
        return f"{now.get('averageValue', '<unknown>')}/{target['averageValue']} (avg)"
    return f"{now.get('value', '<unknown>')}/{target.get('value')}"


def _targets_cell(spec: Tree, status: Tree) -> str:
    metrics, current = spec.get("metrics") or [], status.get("currentMetrics") or []
    if not metrics:
        return "<none>"
    shown = []
    for index, metric in enumerate(metrics):
        kind = metric.get("type") or ""
        now = current[index] if index < len(current) else {}
        shown.append(_target_cell(metric, now.get(kind[:1].lower() + kind[1:])))
    if len(shown) > 2:
        return f"{', '.join(shown[:2])} + {len(shown) - 2} more..."
    return ", ".join(shown)


def _cells(tree: Tree, now: float) -> list[Any]:
    spec, status = tree.get("spec") or {}, tree.get("status") or {}
    target, least = spec.get("scaleTargetRef") or {}, spec.get("minReplicas")
    return [
        checks.name_cell(tree),
        f"{target.get('kind', '')}/{target.get('name', '')}",
        _targets_cell(spec, status),
        "<unset>" if least is None else str(least),
        spec.get("maxReplicas") or 0,
        dig(status, "currentReplicas") or 0,
        checks.age_cell(tree, now),
    ]


RULES: Final = Rules(
    default=_default,
    prepare_create=checks.without_status(_empty_status),
    prepare_update=checks.keep_status,
    validate_create=_validate,
    validate_update=_validate_update,
    validate_status=_validate_status,
    cells=_cells,
)
RULES_V1: Final = Rules(
    default=v1.default,
    prepare_create=checks.without_status(v1.empty_status),
    prepare_update=checks.keep_status,
    validate_create=lambda tree: _validate(v1.to_v2(v1.copied(tree))),
    validate_update=lambda new, _: _validate(v1.to_v2(v1.copied(new))),
    validate_status=_validate_status,
    cells=lambda tree, now: _cells(v1.to_v2(v1.copied(tree)), now),
)
DECLARATIONS: Final = {
    "horizontalpodautoscalers.autoscaling/v2": Declared(rules=RULES),
    "horizontalpodautoscalers.autoscaling/v1": Declared(
        rules=RULES_V1, to_stored=lambda tree: v1.to_v2(v1.copied(tree)), from_stored=v1.from_v2
    ),
}

"""How autoscaling/v1 says what autoscaling/v2 means.

v1 knows one metric, CPU utilization; all else travels as JSON in annotations, and back.
Source: autoscaling/v1 of v1.36.3.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.rules.checks import go_value
from windtunnel.machinery.tree import Tree, decode, encode

DEFAULT_UTILIZATION: Final = 80
_METRICS: Final = "autoscaling.alpha.kubernetes.io/metrics"
_CURRENT: Final = "autoscaling.alpha.kubernetes.io/current-metrics"
_CONDITIONS: Final = "autoscaling.alpha.kubernetes.io/conditions"
_BEHAVIOR: Final = "autoscaling.alpha.kubernetes.io/behavior"


def default(tree: Tree) -> None:
    """Fill in what v1 defaults; the metric itself is made on the way to the stored form."""
    spec = tree.setdefault("spec", {})
    if spec.get("minReplicas") is None:
        spec["minReplicas"] = 1
    if spec.get("targetCPUUtilizationPercentage") is None and not _has_metrics(tree):
        spec["targetCPUUtilizationPercentage"] = DEFAULT_UTILIZATION


def _has_metrics(tree: Tree) -> bool:
    annotations = (tree.get("metadata") or {}).get("annotations") or {}
    return bool(_listed(annotations.get(_METRICS)))


def empty_status() -> Tree:
    """Return the status of an autoscaler that nobody has looked at."""
    return {"currentReplicas": 0, "desiredReplicas": 0}


def copied(tree: Tree) -> Tree:
    """Return a tree of one's own."""
    own: Tree = decode(encode(tree))
    return own


def cpu_metric(percent: int) -> Tree:
    """Return the metric that v1 means by ``targetCPUUtilizationPercentage``."""
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def _listed(text: str | None) -> list[Any]:
    try:
        value = decode(text) if text else []
    except ValueError:
        return []
    return value if isinstance(value, list) else []


def _by_json_name(value: Any) -> Any:
    """Return a tree whose fields are spelled as in Go with the names of JSON."""
    if isinstance(value, list):
        return [_by_json_name(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key[:1].lower() + key[1:]: _by_json_name(item)
        for key, item in value.items()
        if item is not None
    }


def _set(tree: Tree, **values: Any) -> Tree:
    tree.update({key: value for key, value in values.items() if value is not None})
    return tree


def _old_source(name: str, source: Tree) -> Tree:
    """Return a v2 metric source, or its current value, in the words of v1, in v1's order."""
    prefix = "target" if "target" in source else "current"
    values, metric = source.get(prefix) or {}, source.get("metric") or {}
    value, average = values.get("value"), values.get("averageValue")
    if name in ("resource", "containerResource"):
        old: Tree = {"name": source.get("name", "")}
        _set(old, **{f"{prefix}AverageUtilization": values.get("averageUtilization")})
        _set(old, **{f"{prefix}AverageValue": average})
        return _set(old, container=source.get("container"))
    selector = metric.get("selector")
    if name == "object":
        old = {"target": source.get("describedObject") or {}, "metricName": metric.get("name", "")}
        old[f"{prefix}Value"] = "0" if value is None else value
        return _set(old, selector=selector, averageValue=average)
    old = {"metricName": metric.get("name", "")}
    if name == "external":
        _set(old, **{"metricSelector": selector, f"{prefix}Value": value})
        return _set(old, **{f"{prefix}AverageValue": average})
    return _set(old, **{f"{prefix}AverageValue": average, "selector": selector})


def _old_rules(rules: Tree | None) -> Tree | None:
    """Return scaling rules as Go writes them: all fields, in the order of the struct."""
    if rules is None:
        return None
    fields = ("stabilizationWindowSeconds", "selectPolicy", "policies", "tolerance")
    shown: Tree = go_value({key: rules.get(key) for key in fields})
    return shown


def _new_source(name: str, old: Tree, key: str) -> Tree:
    """Return a v1 metric source in the words of v2; ``key`` is "target" or "current"."""
    values: Tree = {}
    average, plain = old.get(f"{key}AverageValue"), old.get(f"{key}Value")
    if name == "object":
        average = old.get("averageValue")
        plain = None if average is not None and plain in ("0", None) else plain
    percent = old.get(f"{key}AverageUtilization")
    _set(values, value=plain, averageValue=average, averageUtilization=percent)
    if key == "target":
        kinds = (("averageUtilization", "Utilization"), ("averageValue", "AverageValue"))
        values["type"] = next((kind for field, kind in kinds if field in values), "Value")
    if name in ("resource", "containerResource"):
        return _set({"name": old.get("name", ""), key: values}, container=old.get("container"))
    selector = old.get("metricSelector" if name == "external" else "selector")
    source: Tree = {"metric": _set({"name": old.get("metricName", "")}, selector=selector)}
    if name == "object":
        source["describedObject"] = old.get("target") or {}
    source[key] = values
    return source


def _old_condition(condition: Tree) -> Tree:
    order = ("type", "status", "lastTransitionTime", "reason", "message")
    return {key: condition[key] for key in order if key in condition}


def _sources(metrics: list[Tree], rename: Any) -> list[Tree]:
    found = []
    for metric in metrics:
        kind = metric.get("type") or ""
        name = kind[:1].lower() + kind[1:]
        source = metric.get(name)
        found.append(
            {"type": kind} if source is None else {"type": kind, name: rename(name, source)}
        )
    return found


def _is_cpu(metric: Tree, key: str) -> bool:
    source = metric.get("resource") or {}
    return (
        metric.get("type") == "Resource"
        and source.get("name") == "cpu"
        and (source.get(key) or {}).get("averageUtilization") is not None
    )


def to_v2(tree: Tree) -> Tree:
    """Turn a v1 autoscaler into the stored form."""
    tree["apiVersion"] = "autoscaling/v2"
    metadata, spec = tree.setdefault("metadata", {}), tree.setdefault("spec", {})
    annotations = metadata.get("annotations") or {}
    kept = {
        key: value
        for key, value in annotations.items()
        if key not in (_METRICS, _CURRENT, _CONDITIONS, _BEHAVIOR)
    }
    metrics = _sources(
        _listed(annotations.get(_METRICS)), lambda name, old: _new_source(name, old, "target")
    )
    percent = spec.pop("targetCPUUtilizationPercentage", None)
    if percent is not None:
        metrics.append(cpu_metric(percent))
    spec["metrics"] = metrics or [cpu_metric(DEFAULT_UTILIZATION)]
    if annotations.get(_BEHAVIOR):
        spec["behavior"] = _by_json_name(decode(annotations[_BEHAVIOR]))
    status = tree.get("status")
    if status is not None:
        current = _sources(
            _listed(annotations.get(_CURRENT)), lambda name, old: _new_source(name, old, "current")
        )
        used = status.pop("currentCPUUtilizationPercentage", None)
        if used is not None and not any(_is_cpu(metric, "current") for metric in current):
            entry = {"name": "cpu", "current": {"averageUtilization": used}}
            current.append({"type": "Resource", "resource": entry})
        status["currentMetrics"] = current or None
        conditions = _listed(annotations.get(_CONDITIONS))
        if conditions:
            status["conditions"] = conditions
    metadata.pop("annotations", None)
    if kept:
        metadata["annotations"] = kept
    return tree


def from_v2(tree: Tree) -> Tree:
    """Turn a stored autoscaler into v1."""
    tree["apiVersion"] = "autoscaling/v1"
    metadata, spec = tree.setdefault("metadata", {}), tree.setdefault("spec", {})
    added: Tree = {}
    metrics = spec.pop("metrics", None) or []
    cpu = next((metric for metric in metrics if _is_cpu(metric, "target")), None)
    if cpu is not None:
        spec["targetCPUUtilizationPercentage"] = cpu["resource"]["target"]["averageUtilization"]
    others = [metric for metric in metrics if metric is not cpu]
    if others:
        added[_METRICS] = encode(_sources(others, _old_source)).decode()
    behavior = spec.pop("behavior", None)
    if behavior is not None:
        directions = {
            "ScaleUp": _old_rules(behavior.get("scaleUp")),
            "ScaleDown": _old_rules(behavior.get("scaleDown")),
        }
        added[_BEHAVIOR] = encode(directions).decode()
    status = tree.get("status")
    if status is not None:
        status.setdefault("currentReplicas", 0)
        current = status.pop("currentMetrics", None) or []
        used = next((metric for metric in current if _is_cpu(metric, "current")), None)
        if used is not None:
            share = used["resource"]["current"]["averageUtilization"]
            status["currentCPUUtilizationPercentage"] = share
        if current:
            added[_CURRENT] = encode(_sources(current, _old_source)).decode()
        conditions = status.pop("conditions", None)
        if conditions:
            added[_CONDITIONS] = encode([_old_condition(each) for each in conditions]).decode()
    if added:
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **added}
    return tree

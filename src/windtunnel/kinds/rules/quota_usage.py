"""What one object counts for in a quota, and which quotas look at it at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from windtunnel.kinds.pod.requests import pod_limits, pod_requests
from windtunnel.kinds.rules.resource_names import is_extended, is_huge_pages
from windtunnel.machinery.quantity import Quantity, parse
from windtunnel.machinery.tree import Tree, dig

Usage = dict[str, Quantity]
_ONE: Final = parse(1)
_NATIVE: Final = ("cpu", "memory", "ephemeral-storage")
_COUNTED_BY_NAME: Final = frozenset(
    {
        "pods", "services", "secrets", "configmaps", "persistentvolumeclaims", "resourcequotas",
        "replicationcontrollers",
    }
)  # fmt: skip
_STATED: Final = frozenset(
    {
        "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory",
    }
)  # fmt: skip
_CLASS_SUFFIX: Final = ".storageclass.storage.k8s.io/"


class Counted(Protocol):
    """What names a resource: a kind, or a sort of write."""

    @property
    def plural(self) -> str:
        """``pods``."""

    @property
    def resource(self) -> str:
        """``deployments.apps``."""


def usage_of(kind: Counted, tree: Tree) -> Usage:
    """Return what an object counts for, by the names that quotas use."""
    usage: Usage = {f"count/{kind.resource}": _ONE}
    if kind.resource in _COUNTED_BY_NAME:
        usage[kind.plural] = _ONE
    if kind.resource == "pods":
        if dig(tree, "status", "phase") in ("Succeeded", "Failed"):
            usage.pop("pods")
        else:
            usage.update(_pod(tree))
    elif kind.resource == "services":
        usage.update(_service(tree.get("spec") or {}))
    elif kind.resource == "persistentvolumeclaims":
        usage.update(_claim(tree.get("spec") or {}))
    return usage


def _pod(pod: Tree) -> Usage:
    usage: Usage = {}
    for name, value in pod_requests(pod).items():
        if name in _NATIVE:
            usage[name] = value
        if name in _NATIVE or is_extended(name) or is_huge_pages(name):
            usage[f"requests.{name}"] = value
        if is_huge_pages(name):
            usage[name] = value
    for name, value in pod_limits(pod).items():
        if name in _NATIVE:
            usage[f"limits.{name}"] = value
    return usage


def _service(spec: Tree) -> Usage:
    ports = len(spec.get("ports") or ())
    if spec.get("type") == "NodePort":
        return {"services.nodeports": parse(ports)}
    if spec.get("type") == "LoadBalancer":
        allocated = spec.get("allocateLoadBalancerNodePorts") is not False
        return {
            "services.loadbalancers": _ONE,
            "services.nodeports": parse(ports if allocated else 0),
        }
    return {}


def _claim(spec: Tree) -> Usage:
    usage: Usage = {}
    storage = dig(spec, "resources", "requests", "storage")
    class_name = spec.get("storageClassName")
    if class_name:
        usage[f"{class_name}{_CLASS_SUFFIX}persistentvolumeclaims"] = _ONE
    if storage is not None:
        usage["requests.storage"] = parse(storage)
        if class_name:
            usage[f"{class_name}{_CLASS_SUFFIX}requests.storage"] = parse(storage)
    return usage


def unstated(pod: Tree, hard: Mapping[str, Any]) -> str:
    """Return which counted amounts a pod's containers do not state, in words, or ""."""
    spec = pod.get("spec") or {}
    at_pod_level = spec.get("resources") or {}
    missing = []
    for counted in sorted(_STATED & hard.keys()):
        part, _, name = counted.rpartition(".")
        part = part or "requests"
        if name in (at_pod_level.get(part) or {}):
            continue
        containers = [
            container.get("name", "")
            for field in ("containers", "initContainers")
            for container in spec.get(field) or ()
            if name not in ((container.get("resources") or {}).get(part) or {})
        ]
        if containers:
            missing.append(f"{counted} for: {','.join(sorted(containers))}")
    return "; ".join(missing)


def matches_scopes(kind: Counted, tree: Tree, spec: Tree) -> bool:
    """Whether a quota with these scopes looks at an object."""
    wanted = [{"scopeName": name, "operator": "Exists"} for name in spec.get("scopes") or ()]
    wanted += dig(spec, "scopeSelector", "matchExpressions") or []
    if not wanted:
        return True
    if kind.resource != "pods":
        return False
    return all(_in_scope(tree, expression) for expression in wanted)


def _in_scope(pod: Tree, expression: Tree) -> bool:
    spec = pod.get("spec") or {}
    match expression.get("scopeName"):
        case "Terminating":
            return spec.get("activeDeadlineSeconds") is not None
        case "NotTerminating":
            return spec.get("activeDeadlineSeconds") is None
        case "BestEffort":
            return _is_best_effort(pod)
        case "NotBestEffort":
            return not _is_best_effort(pod)
        case "PriorityClass":
            return _has_class(spec.get("priorityClassName") or "", expression)
        case "CrossNamespacePodAffinity":
            return _reaches_out(spec)
    return False


def _is_best_effort(pod: Tree) -> bool:
    spec = pod.get("spec") or {}
    holders = [spec, *(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    return not any(
        name in ("cpu", "memory") and parse(value).nanos > 0
        for holder in holders
        for part in ("requests", "limits")
        for name, value in ((holder.get("resources") or {}).get(part) or {}).items()
    )


def _has_class(name: str, expression: Tree) -> bool:
    values = expression.get("values") or ()
    match expression.get("operator"):
        case "In":
            return name in values
        case "NotIn":
            return name not in values
        case "DoesNotExist":
            return not name
    return bool(name)


def _reaches_out(spec: Tree) -> bool:
    for sort in ("podAffinity", "podAntiAffinity"):
        rules = dig(spec, "affinity", sort) or {}
        terms = list(rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ())
        terms += [
            preferred.get("podAffinityTerm") or {}
            for preferred in rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        ]
        if any(
            term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms
        ):
            return True
    return False

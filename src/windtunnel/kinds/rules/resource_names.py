"""Names of resources, and amounts of them: what a container, quota or limit range may ask for.

``cpu`` is native, ``nvidia.com/gpu`` extended: extended resources and huge pages come whole and are
never overcommitted, so request and limit must be equal. Source: kube-apiserver v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from windtunnel.machinery import names
from windtunnel.machinery.quantity import MalformedQuantity, Quantity, parse
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import (
    Violation,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)

NATIVE_DOMAIN: Final = "kubernetes.io/"
HUGE_PAGES: Final = "hugepages-"
POD_LEVEL: Final = ("cpu", HUGE_PAGES, "memory")
NOT_NEGATIVE: Final = "must be greater than or equal to 0"
NOT_WHOLE: Final = "must be an integer"

_COUNTED: Final = frozenset({
    "pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps",
    "persistentvolumeclaims", "services.nodeports", "services.loadbalancers",
})  # fmt: skip
_COMPUTE: Final = frozenset(
    part + name
    for name in ("cpu", "memory", "ephemeral-storage")
    for part in ("", "requests.", "limits.")
)
_QUOTA: Final = _COUNTED | _COMPUTE | {"requests.storage"}
_STANDARD: Final = _QUOTA | {"storage"}
_CONTAINER: Final = frozenset({"cpu", "memory", "ephemeral-storage"})

NameJudge = Callable[[str, str], list[Violation]]
"""(name, field): what is wrong with the name of a resource at this place."""


def is_native(name: str) -> bool:
    """Say whether a resource is Kubernetes' own."""
    return "/" not in name or NATIVE_DOMAIN in name


@lru_cache(maxsize=4096)
def is_extended(name: str) -> bool:
    """Say whether a resource is of a device plugin's kind, like ``nvidia.com/gpu``."""
    if is_native(name) or name.startswith("requests."):
        return False
    return not names.label_key("requests." + name)


def is_huge_pages(name: str) -> bool:
    """Say whether a resource is pre-allocated memory, like ``hugepages-2Mi``."""
    return name.startswith(HUGE_PAGES)


def may_overcommit(name: str) -> bool:
    """Say whether a limit may be higher than its request."""
    return is_native(name) and not name.startswith(HUGE_PAGES)


def is_whole_only(name: str) -> bool:
    """Say whether a resource comes in whole units only."""
    return name in _COUNTED or is_extended(name)


def is_pod_level(name: str) -> bool:
    """Say whether a resource may be given for the pod as a whole."""
    return name in ("cpu", "memory") or name.startswith(HUGE_PAGES)


@lru_cache(maxsize=4096)
def _qualified(name: str) -> tuple[str, ...]:
    if texts := names.label_key(name):
        return tuple(texts)
    if "/" not in name and name not in _STANDARD and not _is_quota_huge_pages(name):
        return ("must be a standard resource type or fully qualified",)
    return ()


def _is_quota_huge_pages(name: str) -> bool:
    return name.startswith((HUGE_PAGES, "requests." + HUGE_PAGES))


@lru_cache(maxsize=4096)
def _container_name(name: str) -> tuple[str, ...]:
    texts = _qualified(name)
    if "/" not in name:
        if name not in _CONTAINER and not is_huge_pages(name):
            texts += ("must be a standard resource for containers",)
    elif not is_native(name) and not is_extended(name):
        texts += ("doesn't follow extended resource name standard",)
    return texts


def resource_name(name: str, field: str) -> list[Violation]:
    """Judge a resource name anywhere: standard, or with a domain."""
    return [invalid(field, name, text) for text in _qualified(name)]


def container_resource_name(name: str, field: str) -> list[Violation]:
    """Judge the name of a resource that a container asks for."""
    return [invalid(field, name, text) for text in _container_name(name)]


def pod_resource_name(name: str, field: str) -> list[Violation]:
    """Judge the name of a resource that is given for a whole pod."""
    if found := resource_name(name, field):
        return found
    return [] if is_pod_level(name) else [not_supported(field, name, list(POD_LEVEL))]


def quota_resource_name(name: str, field: str) -> list[Violation]:
    """Judge the name of a resource that a quota counts."""
    found = resource_name(name, field)
    if "/" not in name and name not in _QUOTA and not _is_quota_huge_pages(name):
        found.append(invalid(field, name, "must be a standard resource for quota"))
    return found


def is_quota_name(name: str) -> bool:
    """Say whether a resource is one that quotas count without a domain."""
    return name in _QUOTA or _is_quota_huge_pages(name)


def amount(name: str, value: Any, field: str) -> list[Violation]:
    """Judge how much of a resource is asked for."""
    quantity = parse(value)
    found: list[Violation] = []
    if quantity.nanos < 0:
        found.append(invalid(field, str(quantity), NOT_NEGATIVE))
    if quantity.milli % 1000 and is_whole_only(name):
        found.append(invalid(field, str(quantity), NOT_WHOLE))
    return found


def _page_size(name: str) -> Quantity | None:
    try:
        return parse(name[len(HUGE_PAGES) :])
    except MalformedQuantity:
        return None


def _indivisible(name: str, quantity: Quantity, field: str) -> list[Violation]:
    size = _page_size(name)
    whole = size is not None and size.nanos > 0 and not size.milli % 1000
    # A page may be so large that it is counted as 0: nothing is made of such pages.
    if size is not None and whole and size.units and quantity.units % size.units == 0:
        return []
    text = f"{quantity} is not positive integer multiple of {name}"
    return [invalid(field, str(quantity), text)]


def validate_requirements(
    resources: Tree,
    field: str,
    claim_names: Collection[str] = (),
    judge: NameJudge = container_resource_name,
) -> list[Violation]:
    """Judge requests, limits and claims of one container (or, with another judge, of a pod)."""
    if not resources:
        return []
    found: list[Violation] = []
    limits: Mapping[str, Any] = resources.get("limits") or {}
    requests: Mapping[str, Any] = resources.get("requests") or {}
    for name, value in limits.items():
        found += _one(name, value, f"{field}.limits[{name}]", judge)
    for name, value in requests.items():
        where = f"{field}.requests[{name}]"
        found += judge(name, where)
        found += amount(name, value, where)
        found += _against_limit(name, value, limits.get(name), field)
        if is_huge_pages(name):
            found += _indivisible(name, parse(value), where)
    asked = limits.keys() | requests.keys()
    if any(map(is_huge_pages, asked)) and not asked & {"cpu", "memory"}:
        found.append(forbidden(field, "HugePages require cpu or memory"))
    if claims := resources.get("claims"):
        found += _claims(claims, f"{field}.claims", claim_names)
    return found


def _one(name: str, value: Any, field: str, judge: NameJudge) -> list[Violation]:
    found = judge(name, field)
    found += amount(name, value, field)
    if is_huge_pages(name):
        found += _indivisible(name, parse(value), field)
    return found


def _against_limit(name: str, value: Any, limit: Any, field: str) -> list[Violation]:
    if limit is None:
        if may_overcommit(name):
            return []
        text = "Limit must be set for non overcommitable resources"
        return [required(f"{field}.limits", text)]
    asked, most = parse(value), parse(limit)
    if asked.nanos != most.nanos and not may_overcommit(name):
        text = f"must be equal to {name} limit of {most}"
    elif asked.nanos > most.nanos:
        text = f"must be less than or equal to {name} limit of {most}"
    else:
        return []
    return [invalid(f"{field}.requests", str(asked), text)]


def _claims(claims: Sequence[Tree], field: str, known: Collection[str]) -> list[Violation]:
    found: list[Violation] = []
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        where, name, request = f"{field}[{index}]", claim.get("name", ""), claim.get("request", "")
        if not name:
            found.append(required(where))
            continue
        if name in seen:
            found.append(duplicate(where, name))
        else:
            key = name
            if request:
                found += [
                    invalid(f"{where}.request", request, text) for text in names.dns_label(request)
                ]
                key = f"{name}/{request}"
            if key in seen:
                found.append(duplicate(where, key))
            elif not request:
                found += [duplicate(where, name) for other in seen if other.startswith(name + "/")]
            seen.add(key)
        if name not in known:
            among = ": " + ", ".join(sorted(known)) if known else " which is empty"
            text = "must be one of the names in pod.spec.resourceClaims" + among
            found.append(Violation(where, "FieldValueNotFound", f'Not found: "{name}": {text}'))
    return found

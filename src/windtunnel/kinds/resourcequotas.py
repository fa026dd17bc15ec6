"""Resource quotas: how much of each resource a namespace may use, and for which pods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from windtunnel.kinds.pod.spec_defaults import default_resource_list
from windtunnel.kinds.rules.checks import age_cell, keep_status, name_cell, without_status
from windtunnel.kinds.rules.resource_names import amount, is_quota_name, quota_resource_name
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.machinery.quantity import canonical, parse
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import Violation, invalid, required

_POD_SCOPES: Final = frozenset({
    "Terminating", "NotTerminating", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity",
})  # fmt: skip
_SCOPES: Final = _POD_SCOPES | {"BestEffort", "VolumeAttributesClass"}
_EXISTS_ONLY: Final = _SCOPES - {"PriorityClass", "VolumeAttributesClass"}
_POD_RESOURCES: Final = frozenset({
    "pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory",
})  # fmt: skip
_CLAIM_RESOURCES: Final = frozenset({"persistentvolumeclaims", "requests.storage"})
_CONTRARY: Final = (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))
_WARNED: Final = ("cpu", "memory", "storage", "ephemeral-storage")
_EXISTS_TEXT: Final = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating,"
    " ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort,"
    " ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)


def scope_fits(scope: str, resource: str) -> bool:
    """Say whether a scope can narrow what is counted of a resource."""
    if scope in _POD_SCOPES:
        return resource in _POD_RESOURCES
    if scope == "BestEffort":
        return resource == "pods"
    if scope == "VolumeAttributesClass":
        return resource in _CLAIM_RESOURCES
    return True


def _default(quota: Tree) -> None:
    default_resource_list(dig(quota, "spec", "hard"))
    for part in ("hard", "used"):
        default_resource_list(dig(quota, "status", part))


def _amounts(listed: Mapping[str, Any] | None, field: str) -> list[Violation]:
    found: list[Violation] = []
    for name, value in (listed or {}).items():
        where = f"{field}[{name}]"
        found += quota_resource_name(name, where)
        found += amount(name, value, where)
    return found


def _misfits(scope: str, hard: Sequence[str]) -> int:
    return sum(is_quota_name(name) and not scope_fits(scope, name) for name in hard)


def _scopes(spec: Tree) -> list[Violation]:
    scopes = spec.get("scopes") or []
    field, hard = "spec.scopes", sorted(spec.get("hard") or ())
    found: list[Violation] = []
    for scope in scopes:
        if scope not in _SCOPES:
            found.append(invalid(field, scopes, "unsupported scope"))
        text = "unsupported scope applied to resource"
        found += [invalid(field, scopes, text)] * _misfits(scope, hard)
    return found + _contrary(scopes, scopes, field)


def _contrary(scopes: Sequence[str], shown: Any, field: str) -> list[Violation]:
    return [
        invalid(field, shown, "conflicting scopes")
        for one, other in _CONTRARY
        if one in scopes and other in scopes
    ]


def _selector(spec: Tree) -> list[Violation]:
    selector = spec.get("scopeSelector")
    if selector is None:
        return []
    field, hard = "spec.scopeSelector.matchExpressions", sorted(spec.get("hard") or ())
    found: list[Violation] = []
    seen: list[str] = []
    for term in selector.get("matchExpressions") or ():
        scope, operator = term.get("scopeName", ""), term.get("operator", "")
        values = term.get("values") or []
        if scope not in _SCOPES:
            found.append(invalid(f"{field}.scopeName", scope, "unsupported scope"))
        text = "unsupported scope applied to resource"
        found += [invalid(field, selector, text)] * _misfits(scope, hard)
        if scope in _EXISTS_ONLY and operator != "Exists":
            found.append(invalid(f"{field}.operator", operator, _EXISTS_TEXT))
        if operator in ("In", "NotIn"):
            if not values:
                text = (
                    "must be at least one value when `operator` is 'In' or 'NotIn' for scope"
                    " selector"
                )
                found.append(required(f"{field}.values", text))
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                text = (
                    "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope"
                    " selector"
                )
                found.append(invalid(f"{field}.values", values, text))
        else:
            text = "not a valid selector operator"
            found.append(invalid(f"{field}.operator", operator, text))
        seen.append(scope)
    return found + _contrary(seen, spec.get("scopes"), field)


def _spec(quota: Tree) -> list[Violation]:
    spec = quota.get("spec") or {}
    return _amounts(spec.get("hard"), "spec.hard") + _scopes(spec) + _selector(spec)


def _validate_update(new: Tree, old: Tree) -> list[Violation]:
    found = _spec(new)
    ours, theirs = dig(new, "spec", "scopes") or [], dig(old, "spec", "scopes") or []
    if set(ours) != set(theirs):
        found.append(invalid("spec.scopes", ours or None, "field is immutable"))
    return found


def _validate_status(new: Tree, _: Tree) -> list[Violation]:
    status = new.get("status") or {}
    return _amounts(status.get("hard"), "status.hard") + _amounts(status.get("used"), "status.used")


def _warnings(new: Tree, old: Tree | None) -> list[str]:
    if old is not None:
        return []
    hard = dig(new, "spec", "hard") or {}
    found: list[str] = []
    for name in _WARNED:
        request, limit = f"requests.{name}", f"limits.{name}"
        if request not in hard and name in ("cpu", "memory"):
            request = name
        if request in hard and limit in hard and parse(hard[request]) > parse(hard[limit]):
            found.append(
                f"ResourceQuota {request} ({canonical(hard[request])}) should be less than"
                f" {limit} ({canonical(hard[limit])})"
            )
    return found


def _cells(quota: Tree, now: float) -> list[Any]:
    status = quota.get("status") or {}
    hard, used = status.get("hard") or {}, status.get("used") or {}
    columns: dict[bool, list[str]] = {False: [], True: []}
    for name in sorted(hard):
        text = f"{name}: {canonical(used.get(name, '0'))}/{canonical(hard[name])}"
        columns[name.startswith("limits.")].append(text)
    requests, limits = ", ".join(columns[False]), ", ".join(columns[True])
    return [name_cell(quota), requests, limits, age_cell(quota, now)]


DECLARATIONS: Final = {
    "resourcequotas": Declared(
        delete_answer="object",
        rules=Rules(
            default=_default,
            prepare_create=without_status(),
            prepare_update=keep_status,
            validate_create=_spec,
            validate_update=_validate_update,
            validate_status=_validate_status,
            warnings=_warnings,
            cells=_cells,
        ),
    )
}

"""Which requests an admission webhook or policy sees: rules, selectors, conditions.

Source: admissionregistration.k8s.io/v1 of v1.36.3. CEL is not evaluated yet, so conditions in CEL
are refused: a condition that is not asked would let a webhook see what it was told not to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from windtunnel.kinds.rules import checks
from windtunnel.machinery import names
from windtunnel.machinery.selectors import validate_label_selector
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import (
    Violation,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_many,
)

OPERATIONS: Final = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"]
FAILURE_POLICIES: Final = ["Fail", "Ignore"]
MATCH_POLICIES: Final = ["Equivalent", "Exact"]
NO_CEL: Final = "CEL expressions are not evaluated by this server yet; remove this condition"
_SCOPES: Final = ["*", "Cluster", "Namespaced"]
_MOST_CONDITIONS: Final = 64


def default_rules(rules: Sequence[Tree] | None) -> None:
    """Fill in the scope of each rule."""
    for rule in rules or ():
        if rule.get("scope") is None:
            rule["scope"] = "*"


def default_match_resources(match: Tree | None) -> None:
    """Fill in what a policy's match leaves out."""
    if match is None:
        return
    default_selectors(match)
    for key in ("resourceRules", "excludeResourceRules"):
        default_rules(match.get(key))


def default_selectors(match: Tree) -> None:
    """Fill in match policy and selectors."""
    if match.get("matchPolicy") is None:
        match["matchPolicy"] = "Equivalent"
    for key in ("namespaceSelector", "objectSelector"):
        if match.get(key) is None:
            match[key] = {}


def _alone(values: Sequence[str], field: str, what: str) -> list[Violation]:
    if len(values) > 1 and "*" in values:
        text = f"if '*' is present, must not specify other {what}"
        return [invalid(field, list(values), text)]
    return []


def validate_rule(rule: Tree, field: str) -> list[Violation]:
    """Judge one rule with its operations."""
    operations = rule.get("operations") or []
    where = f"{field}.operations"
    found = [] if operations else [required(where)]
    found += _alone(operations, where, "operations")
    for index, operation in enumerate(operations):
        found += checks.one_of(operation, f"{where}[{index}]", OPERATIONS)
    groups, versions = rule.get("apiGroups") or [], rule.get("apiVersions") or []
    found += [] if groups else [required(f"{field}.apiGroups")]
    found += _alone(groups, f"{field}.apiGroups", "API groups")
    where = f"{field}.apiVersions"
    found += [] if versions else [required(where)]
    found += _alone(versions, where, "API versions")
    found += [required(f"{where}[{i}]") for i, version in enumerate(versions) if not version]
    found += _validate_resources(rule.get("resources") or [], f"{field}.resources")
    scope = rule.get("scope")
    if scope is not None:
        found += checks.one_of(scope, f"{field}.scope", _SCOPES)
    return found


def _validate_resources(resources: list[str], field: str) -> list[Violation]:
    found = [] if resources else [required(field)]
    whole: set[str] = set()  # x of x/*
    parts: set[str] = set()  # y of */y
    plain = False
    for index, resource in enumerate(resources):
        where = f"{field}[{index}]"
        if not resource:
            found.append(required(where))
            continue
        name, slash, part = resource.partition("/")
        if not slash:
            plain = resource != "*"
            continue
        if name in whole:
            text = f"if '{name}/*' is present, must not specify {resource}"
            found.append(invalid(where, resource, text))
        if part in parts:
            text = f"if '*/{part}' is present, must not specify {resource}"
            found.append(invalid(where, resource, text))
        if part == "*":
            whole.add(name)
        if name == "*":
            parts.add(part)
    if len(resources) > 1 and "*/*" in resources:
        text = "if '*/*' is present, must not specify other resources"
        found.append(invalid(field, resources, text))
    if "*" in resources and plain:
        text = "if '*' is present, must not specify other resources without subresources"
        found.append(invalid(field, resources, text))
    return found


def _validate_named_rule(rule: Tree, field: str) -> list[Violation]:
    found: list[Violation] = []
    chosen = rule.get("resourceNames") or []
    for index, name in enumerate(chosen):
        where = f"{field}.resourceNames[{index}]"
        found += checks.each(names.path_segment(name), where, name)
        if name in chosen[:index]:
            found.append(duplicate(where, name))
    return found + validate_rule(rule, field)


def validate_match_resources(match: Tree | None, field: str) -> list[Violation]:
    """Judge what a policy or its binding matches."""
    if match is None:
        return []
    policy = match.get("matchPolicy")
    found = checks.one_of_needed(policy, f"{field}.matchPolicy", MATCH_POLICIES)
    for key in ("namespaceSelector", "objectSelector"):
        found += validate_label_selector(match.get(key), f"{field}.{key}")
    for key in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(match.get(key) or ()):
            found += _validate_named_rule(rule, f"{field}.{key}[{index}]")
    return found


def only_mutable_operations(match: Tree, field: str) -> list[Violation]:
    """A request that deletes has nothing to mutate."""
    allowed = [operation for operation in OPERATIONS if operation != "DELETE"]
    return [
        not_supported(f"{field}.resourceRules.operations", operation, allowed)
        for rule in match.get("resourceRules") or ()
        for operation in rule.get("operations") or ()
        if operation not in allowed
    ]


def validate_conditions(
    conditions: Sequence[Tree] | None, field: str, *, evaluated: bool
) -> list[Violation]:
    """Judge match conditions; ``evaluated`` says that they would have to be asked here and now."""
    given = conditions or ()
    found: list[Violation] = []
    if len(given) > _MOST_CONDITIONS:
        found.append(too_many(field, len(given), _MOST_CONDITIONS))
    seen: set[str] = set()
    for index, condition in enumerate(given):
        where, name = f"{field}[{index}]", condition.get("name") or ""
        if not (condition.get("expression") or "").strip():
            found.append(required(f"{where}.expression"))
        elif evaluated:
            found.append(forbidden(f"{where}.expression", NO_CEL))
        found += checks.named(name, f"{where}.name", names.label_key)
        if name and name in seen:
            found.append(duplicate(f"{where}.name", name))
        seen.add(name)
    return found

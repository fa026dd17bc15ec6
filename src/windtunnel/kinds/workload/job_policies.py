"""When a job fails early, and when it succeeds early: podFailurePolicy and successPolicy.

Source: batch/v1 of v1.36.3.
"""

from __future__ import annotations

from typing import Final

from windtunnel.kinds.rules import checks
from windtunnel.kinds.rules.checks import go_value, unshown
from windtunnel.kinds.workload.job_indexes import MalformedIndexes, count_indexes, parse_indexes
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    duplicate,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
)

_ACTIONS: Final = ["Count", "FailIndex", "FailJob", "Ignore"]
_MOST_RULES: Final = 20
_MOST_PATTERNS: Final = 20
_MOST_EXIT_CODES: Final = 255
_LONGEST_INDEXES: Final = 64 * 1024


def default_policies(spec: Tree) -> None:
    """Fill in what a pattern on pod conditions leaves out."""
    for rule in dig(spec, "podFailurePolicy", "rules") or ():
        for pattern in rule.get("onPodConditions") or ():
            if not pattern.get("status"):
                pattern["status"] = "True"


def validate_failure_policy(spec: Tree, field: str) -> list[Violation]:
    """Judge ``spec.podFailurePolicy`` of a job."""
    policy = spec.get("podFailurePolicy")
    if policy is None:
        return []
    rules = policy.get("rules") or []
    where = f"{field}.podFailurePolicy.rules"
    if len(rules) > _MOST_RULES:
        return [too_many(where, len(rules), _MOST_RULES)]
    pod = dig(spec, "template", "spec") or {}
    known = {
        container.get("name")
        for group in ("containers", "initContainers")
        for container in pod.get(group) or ()
    }
    return [
        found
        for index, rule in enumerate(rules)
        for found in _validate_failure_rule(spec, rule, f"{where}[{index}]", known)
    ]


def _validate_failure_rule(
    spec: Tree, rule: Tree, field: str, known: set[str | None]
) -> list[Violation]:
    found: list[Violation] = []
    action = rule.get("action")
    if not action:
        shown = " ".join(f'"{item}"' for item in _ACTIONS)
        found.append(required(f"{field}.action", f"valid values: [{shown}]"))
    elif action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        text = "requires the backoffLimitPerIndex to be set"
        found.append(invalid(f"{field}.action", action, text))
    elif action not in _ACTIONS:
        found.append(not_supported(f"{field}.action", action, _ACTIONS))
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions") or []
    if codes is not None:
        found += _validate_exit_codes(codes, f"{field}.onExitCodes", known)
    if conditions:
        found += _validate_conditions(conditions, f"{field}.onPodConditions")
    if codes is not None and conditions:
        text = "specifying both OnExitCodes and OnPodConditions is not supported"
        found.append(unshown(field, text))
    if codes is None and not conditions:
        found.append(
            unshown(field, "specifying one of OnExitCodes and OnPodConditions is required")
        )
    return found


def _validate_conditions(patterns: list[Tree], field: str) -> list[Violation]:
    if len(patterns) > _MOST_PATTERNS:
        return [too_many(field, len(patterns), _MOST_PATTERNS)]
    found: list[Violation] = []
    for index, pattern in enumerate(patterns):
        kind, status = pattern.get("type") or "", pattern.get("status")
        where = f"{field}[{index}]"
        found += checks.each(names.label_key(kind), f"{where}.type", kind)
        found += checks.one_of_needed(status, f"{where}.status", ["False", "True", "Unknown"])
    return found


def _validate_exit_codes(wanted: Tree, field: str, known: set[str | None]) -> list[Violation]:
    operator, values = wanted.get("operator"), wanted.get("values") or []
    found: list[Violation] = []
    if not operator:
        found.append(required(f"{field}.operator", 'valid values: ["In" "NotIn"]'))
    else:
        found += checks.one_of(operator, f"{field}.operator", ["In", "NotIn"])
    container = wanted.get("containerName")
    if container is not None and container not in known:
        text = "must be one of the container or initContainer names in the pod template"
        found.append(invalid(f"{field}.containerName", container, text))
    if not values:
        found.append(invalid(f"{field}.values", values, "at least one value is required"))
    elif len(values) > _MOST_EXIT_CODES:
        found.append(too_many(f"{field}.values", len(values), _MOST_EXIT_CODES))
    seen: set[int] = set()
    for index, value in enumerate(values):
        where = f"{field}.values[{index}]"
        if value in seen:
            found.append(duplicate(where, value))
        seen.add(value)
        if operator == "In" and value == 0:
            found.append(invalid(where, value, "must not be 0 for the In operator"))
    if values != sorted(values):
        found.append(invalid(f"{field}.values", values, "must be ordered"))
    return found


def validate_success_policy(spec: Tree, field: str) -> list[Violation]:
    """Judge ``spec.successPolicy`` of a job."""
    policy = spec.get("successPolicy")
    if policy is None:
        return []
    where = f"{field}.successPolicy"
    if spec.get("completionMode") != "Indexed":
        return [invalid(where, go_value(policy), "requires indexed completion mode")]
    rules = policy.get("rules") or []
    if not rules:
        text = "at least one rules must be specified when the successPolicy is specified"
        return [required(f"{where}.rules", text)]
    found = []
    if len(rules) > _MOST_RULES:
        found.append(too_many(f"{where}.rules", len(rules), _MOST_RULES))
    for index, rule in enumerate(rules):
        found += _validate_success_rule(spec, rule, f"{where}.rules[{index}]")
    return found


def _validate_success_rule(spec: Tree, rule: Tree, field: str) -> list[Violation]:
    count, indexes = rule.get("succeededCount"), rule.get("succeededIndexes")
    if count is None and indexes is None:
        text = "at least one of succeededCount or succeededIndexes must be specified"
        return [required(field, text)]
    found: list[Violation] = []
    chosen: int | None = None
    completions = spec.get("completions")
    if indexes is not None:
        where = f"{field}.succeededIndexes"
        if len(indexes) > _LONGEST_INDEXES:
            found.append(too_long(where, _LONGEST_INDEXES))
        try:
            chosen = count_indexes(parse_indexes(indexes, completions or 0))
        except MalformedIndexes as problem:
            text = f"error parsing succeededIndexes: {problem}"
            found.append(invalid(where, indexes, text))
    if count is not None:
        where = f"{field}.succeededCount"
        found += checks.not_negative(count, where)
        if completions is not None and count > completions:
            text = f"must be less than or equal to {completions}"
            found.append(invalid(where, count, f"{text} (the number of specified completions)"))
        if chosen is not None and count > chosen:
            text = f"must be less than or equal to {chosen}"
            rest = "(the number of indexes in the specified succeededIndexes field)"
            found.append(invalid(where, count, f"{text} {rest}"))
    return found

"""Where a pod may run: selectors, affinity, tolerations, spreading, gates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from windtunnel.kinds.rules.checks import each
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
)

REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
EFFECTS: Final = ["NoSchedule", "PreferNoSchedule", "NoExecute"]
_NO_SELECTOR: Final = "must not be specified when labelSelector is not set"
_WEIGHT: Final = "must be in the range 1-100"
_OPERATOR: Final = "not a valid selector operator"


def _node_requirement(requirement: Tree, field: str, *, judge_values: bool) -> list[Violation]:
    operator, values = requirement.get("operator", ""), requirement.get("values") or ()
    found: list[Violation] = []
    if operator in ("In", "NotIn"):
        if not values:
            text = "must be specified when `operator` is 'In' or 'NotIn'"
            found.append(required(f"{field}.values", text))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            found.append(forbidden(f"{field}.values", text))
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            text = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            found.append(required(f"{field}.values", text))
    else:
        found.append(invalid(f"{field}.operator", operator, _OPERATOR))
    key = requirement.get("key", "")
    found += each(names.label_key(key), f"{field}.key", key)
    if judge_values:
        for index, value in enumerate(values):
            found += each(names.label_value(value), f"{field}.values[{index}]", value)
    return found


def _node_field(requirement: Tree, field: str) -> list[Violation]:
    operator, values = requirement.get("operator", ""), requirement.get("values") or ()
    found: list[Violation] = []
    if operator not in ("In", "NotIn"):
        found.append(invalid(f"{field}.operator", operator, _OPERATOR))
    elif len(values) != 1:
        text = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        found.append(required(f"{field}.values", text))
    key = requirement.get("key", "")
    if key != "metadata.name":
        found.append(invalid(f"{field}.key", key, "not a valid field selector key"))
        return found
    for index, value in enumerate(values):
        found += each(names.dns_subdomain(value), f"{field}.values[{index}]", value)
    return found


def _node_term(term: Tree, field: str, *, judge_values: bool = True) -> list[Violation]:
    found: list[Violation] = []
    for index, requirement in enumerate(term.get("matchExpressions") or ()):
        where = f"{field}.matchExpressions[{index}]"
        found += _node_requirement(requirement, where, judge_values=judge_values)
    for index, requirement in enumerate(term.get("matchFields") or ()):
        found += _node_field(requirement, f"{field}.matchFields[{index}]")
    return found


def validate_node_selector(selector: Tree, field: str) -> list[Violation]:
    """Judge the terms of which a node must meet one."""
    terms = selector.get("nodeSelectorTerms") or ()
    where = f"{field}.nodeSelectorTerms"
    if not terms:
        return [required(where, "must have at least one node selector term")]
    return [
        violation
        for index, term in enumerate(terms)
        for violation in _node_term(term, f"{where}[{index}]")
    ]


def validate_affinity(affinity: Tree | None, field: str) -> list[Violation]:
    """Judge affinity to nodes, to pods and against pods."""
    if not affinity:
        return []
    found: list[Violation] = []
    if (node := affinity.get("nodeAffinity")) is not None:
        where = f"{field}.nodeAffinity"
        if (selector := node.get(REQUIRED)) is not None:
            found += validate_node_selector(selector, f"{where}.{REQUIRED}")
        for index, term in enumerate(node.get(PREFERRED) or ()):
            at = f"{where}.{PREFERRED}[{index}]"
            found += _weight(term, at)
            found += _node_term(
                term.get("preference") or {}, f"{at}.preference", judge_values=False
            )
    for kind in ("podAffinity", "podAntiAffinity"):
        if (pods := affinity.get(kind)) is not None:
            found += _pod_affinity(pods, f"{field}.{kind}")
    return found


def _weight(term: Tree, field: str) -> list[Violation]:
    weight = term.get("weight", 0)
    return [] if 0 < weight <= 100 else [invalid(f"{field}.weight", weight, _WEIGHT)]


def _pod_affinity(affinity: Tree, field: str) -> list[Violation]:
    found: list[Violation] = []
    for index, term in enumerate(affinity.get(REQUIRED) or ()):
        found += _pod_term(term, f"{field}.{REQUIRED}[{index}]")
    for index, weighted in enumerate(affinity.get(PREFERRED) or ()):
        where = f"{field}.{PREFERRED}[{index}]"
        found += _weight(weighted, where)
        found += _pod_term(weighted.get("podAffinityTerm") or {}, f"{where}.podAffinityTerm")
    return found


def _pod_term(term: Tree, field: str) -> list[Violation]:
    selector = term.get("labelSelector")
    found = validate_label_selector(selector, f"{field}.labelSelector")
    found += validate_label_selector(term.get("namespaceSelector"), f"{field}.namespaceSelector")
    for namespace in term.get("namespaces") or ():
        found += each(names.dns_label(namespace), f"{field}.namespace", namespace)
    match, mismatch = term.get("matchLabelKeys") or (), term.get("mismatchLabelKeys") or ()
    found += _label_keys(match, mismatch, selector, field)
    key = term.get("topologyKey", "")
    if not key:
        found.append(required(f"{field}.topologyKey", "can not be empty"))
    return found + each(names.label_key(key), f"{field}.topologyKey", key)


def _label_keys(
    match: Sequence[str], mismatch: Sequence[str], selector: Tree | None, field: str
) -> list[Violation]:
    found: list[Violation] = []
    for part, keys in (("matchLabelKeys", match), ("mismatchLabelKeys", mismatch)):
        if keys and selector is None:
            found.append(forbidden(f"{field}.{part}", _NO_SELECTOR))
            continue
        for index, key in enumerate(keys):
            found += each(names.label_key(key), f"{field}.{part}[{index}]", key)
    if selector is not None and match:
        at = {key: index for index, key in enumerate(match)}
        seen = set(selector.get("matchLabels") or ())
        for expression in selector.get("matchExpressions") or ():
            key = expression.get("key", "")
            if key in at and key in seen:
                text = "exists in both matchLabelKeys and labelSelector"
                found.append(invalid(f"{field}[{at[key]}]", key, text))
            seen.add(key)
    for index, key in enumerate(match):
        if key in mismatch:
            text = "exists in both matchLabelKeys and mismatchLabelKeys"
            found.append(invalid(f"{field}.matchLabelKeys[{index}]", key, text))
    return found


def validate_tolerations(tolerations: Sequence[Tree], field: str) -> list[Violation]:
    """Judge which taints a pod bears."""
    found: list[Violation] = []
    for index, toleration in enumerate(tolerations):
        found += _toleration(toleration, f"{field}[{index}]")
    return found


def _toleration(toleration: Tree, field: str) -> list[Violation]:
    key, operator = toleration.get("key", ""), toleration.get("operator", "")
    effect, value = toleration.get("effect", ""), toleration.get("value", "")
    found: list[Violation] = []
    if key:
        found += each(names.label_key(key), f"{field}.key", key)
    elif operator != "Exists":
        text = (
            "operator must be Exists when `key` is empty, which means"
            ' "match all values and all keys"'
        )
        found.append(invalid(f"{field}.operator", operator, text))
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        text = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        found.append(invalid(f"{field}.effect", effect, text))
    if operator in ("Equal", ""):
        if texts := names.label_value(value):
            found.append(invalid(f"{field}.operator", value, ";".join(texts)))
    elif operator == "Exists":
        if value:
            text = "value must be empty when `operator` is 'Exists'"
            found.append(invalid(f"{field}.operator", value, text))
    else:
        compared = ["Lt", "Gt"] if operator in ("Lt", "Gt") else []
        allowed = ["Equal", "Exists", *compared]
        found.append(not_supported(f"{field}.operator", operator, allowed))
    if effect and effect not in EFFECTS:
        found.append(not_supported(f"{field}.effect", effect, EFFECTS))
    return found


def validate_gates(gates: Sequence[Tree], field: str) -> list[Violation]:
    """Judge what keeps a pod from being scheduled at all."""
    found: list[Violation] = []
    seen: set[str] = set()
    for index, gate in enumerate(gates):
        name, where = gate.get("name", ""), f"{field}[{index}]"
        found += each(names.label_key(name), where, name)
        if name in seen:
            found.append(duplicate(where, name))
        seen.add(name)
    return found


def validate_spread(constraints: Sequence[Tree], field: str) -> list[Violation]:
    """Judge how evenly pods are spread over topologies."""
    found: list[Violation] = []
    for index, constraint in enumerate(constraints):
        where = f"{field}[{index}]"
        found += _positive(constraint.get("maxSkew", 0), f"{where}.maxSkew")
        topology, action = (
            constraint.get("topologyKey", ""),
            constraint.get("whenUnsatisfiable", ""),
        )
        if not topology:
            found.append(required(f"{where}.topologyKey", "can not be empty"))
        if action not in ("DoNotSchedule", "ScheduleAnyway"):
            allowed = ["DoNotSchedule", "ScheduleAnyway"]
            found.append(not_supported(f"{where}.whenUnsatisfiable", action, allowed))
        if any(
            topology == other.get("topologyKey", "")
            and action == other.get("whenUnsatisfiable", "")
            for other in constraints[index + 1 :]
        ):
            both = f"{{{topology}, {action}}}"
            found.append(duplicate(f"{where}.{{topologyKey, whenUnsatisfiable}}", both))
        least = constraint.get("minDomains")
        if least is not None:
            found += _positive(least, f"{where}.minDomains")
            if action != "DoNotSchedule":
                text = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
                found.append(invalid(f"{where}.minDomains", least, text))
        for part in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            policy = constraint.get(part)
            if policy is not None and policy not in ("Honor", "Ignore"):
                found.append(not_supported(f"{where}.{part}", policy, ["Honor", "Ignore"]))
        selector = constraint.get("labelSelector")
        found += _label_keys(constraint.get("matchLabelKeys") or (), (), selector, where)
        found += validate_label_selector(selector, f"{where}.labelSelector")
    return found


def _positive(value: Any, field: str) -> list[Violation]:
    return [] if value > 0 else [invalid(field, value, "must be greater than zero")]

"""Admission policies in CEL, and their bindings.

They are stored and judged in structure, but their expressions are neither compiled nor evaluated
yet. A policy does nothing before it is bound, so it is the binding that warns.
Source: admissionregistration.k8s.io/v1 of v1.36.3.
"""

from __future__ import annotations

import re
from typing import Any, Final

from windtunnel.kinds.extension import admission_matching as matching
from windtunnel.kinds.rules import checks
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.machinery import names
from windtunnel.machinery.selectors import validate_label_selector
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)

NOT_EVALUATED: Final = (
    "admission policies are stored, but their CEL expressions are not evaluated by this server yet"
)
_IDENTIFIER: Final = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")
_RESERVED: Final = frozenset(
    [
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ]
)
_REASONS: Final = ["Forbidden", "Invalid", "RequestEntityTooLarge"]
_ACTIONS: Final = ["Audit", "Deny", "Warn"]
_MOST_AUDIT_ANNOTATIONS: Final = 20
_LONGEST_VALUE_EXPRESSION: Final = 5 * 1024
_DENY_AND_WARN: Final = (
    "must not contain both Deny and Warn (repeating the same validation failure information in the"
    " API response and headers serves no purpose)"
)
_EXCLUSIVE: Final = "name and selector are mutually exclusive"
_NOTHING_TO_DO: Final = "validations or auditAnnotations must contain at least one item"
_EMPTY_IF_SET: Final = "must be non-empty if specified"


def _default_policy(tree: Tree) -> None:
    spec = tree.setdefault("spec", {})
    if spec.get("failurePolicy") is None:
        spec["failurePolicy"] = "Fail"
    matching.default_match_resources(spec.get("matchConstraints"))


def _default_binding(tree: Tree) -> None:
    matching.default_match_resources(dig(tree, "spec", "matchResources"))


def _validate_param_kind(kind: Tree, field: str) -> list[Violation]:
    version, name = kind.get("apiVersion") or "", kind.get("kind") or ""
    where = f"{field}.apiVersion"
    found: list[Violation] = []
    if not version:
        found.append(required(where))
    elif version.count("/") > 1:
        found.append(invalid(where, version, f"unexpected GroupVersion string: {version}"))
    else:
        group, _, part = version.rpartition("/")
        wrong = names.dns_subdomain(group) if group else []
        if wrong:
            found.append(invalid(where, group, ",".join(wrong)))
        if not part:
            found.append(invalid(where, version, "version must be specified"))
        elif names.dns_1035_label(part):
            found.append(invalid(where, part, ",".join(names.dns_1035_label(part))))
    if not name:
        found.append(required(f"{field}.kind"))
    elif names.dns_1035_label(name.lower()):
        found.append(invalid(f"{field}.kind", name, mixed_case_problem(name)))
    return found


def mixed_case_problem(name: str) -> str:
    """Word what is wrong with the name of a kind."""
    texts = ",".join(names.dns_1035_label(name.lower()))
    return f"may have mixed case, but should otherwise match: {texts}"


def _validate_variable(variable: Tree, field: str) -> list[Violation]:
    name = variable.get("name") or ""
    found: list[Violation] = []
    if not name.strip():
        found.append(required(f"{field}.name", "name is not specified"))
    elif not _IDENTIFIER.fullmatch(name) or name in _RESERVED:
        found.append(invalid(f"{field}.name", name, "must be a valid CEL identifier"))
    if not (variable.get("expression") or "").strip():
        found.append(required(f"{field}.expression", "expression is not specified"))
    return found


def _validate_head(spec: Tree) -> list[Violation]:
    """Judge what validating and mutating policies have in common."""
    policies = matching.FAILURE_POLICIES
    found = checks.one_of_needed(spec.get("failurePolicy"), "spec.failurePolicy", policies)
    if spec.get("paramKind") is not None:
        found += _validate_param_kind(spec["paramKind"], "spec.paramKind")
    match = spec.get("matchConstraints")
    if match is None:
        found.append(required("spec.matchConstraints"))
    else:
        found += matching.validate_match_resources(match, "spec.matchConstraints")
        if not match.get("resourceRules"):
            found.append(required("spec.matchConstraints.resourceRules"))
    return found


def _validate_conditions(spec: Tree) -> list[Violation]:
    conditions = spec.get("matchConditions")
    found = matching.validate_conditions(conditions, "spec.matchConditions", evaluated=False)
    for index, variable in enumerate(spec.get("variables") or ()):
        found += _validate_variable(variable, f"spec.variables[{index}]")
    return found


def _validate_validation(validation: Tree, field: str) -> list[Violation]:
    message, spoken = validation.get("message") or "", validation.get("messageExpression") or ""
    found: list[Violation] = []
    if not (validation.get("expression") or "").strip():
        found.append(required(f"{field}.expression", "expression is not specified"))
    if spoken and not spoken.strip():
        found.append(invalid(f"{field}.messageExpression", spoken, _EMPTY_IF_SET))
    if message and not message.strip():
        found.append(invalid(f"{field}.message", message, _EMPTY_IF_SET))
    elif re.search(r"[\n\r]", message.strip()):
        found.append(invalid(f"{field}.message", message, "must not contain line breaks"))
    reason = validation.get("reason")
    if reason is not None:
        found += checks.one_of(reason, f"{field}.reason", _REASONS)
    return found


def _validate_audit(name: str, annotation: Tree, field: str) -> list[Violation]:
    key = annotation.get("key") or ""
    expression = (annotation.get("valueExpression") or "").strip()
    found: list[Violation] = []
    if name:
        full = f"{name}/{key}"
        found += checks.each(names.label_key(full), f"{field}.key", full)
    else:
        found.append(invalid(f"{field}.key", key, "requires metadata.name be non-empty"))
    if not expression:
        found.append(required(f"{field}.valueExpression", "valueExpression is not specified"))
    elif len(expression) > _LONGEST_VALUE_EXPRESSION:
        text = f"must not exceed {_LONGEST_VALUE_EXPRESSION} bytes in length"
        found.append(required(f"{field}.valueExpression", text))
    return found


def _validate_validating(tree: Tree) -> list[Violation]:
    spec = tree.get("spec") or {}
    found = _validate_head(spec) + _validate_conditions(spec)
    validations, audits = spec.get("validations") or [], spec.get("auditAnnotations") or []
    if not validations and not audits:
        found += [
            required("spec.validations", _NOTHING_TO_DO),
            required("spec.auditAnnotations", _NOTHING_TO_DO),
        ]
    for index, validation in enumerate(validations):
        found += _validate_validation(validation, f"spec.validations[{index}]")
    if len(audits) > _MOST_AUDIT_ANNOTATIONS:
        text = f"must not have more than {_MOST_AUDIT_ANNOTATIONS} auditAnnotations"
        found.append(invalid("spec.auditAnnotations", checks.go_value(audits), text))
    keys: set[str] = set()
    for index, annotation in enumerate(audits):
        where, key = f"spec.auditAnnotations[{index}]", annotation.get("key") or ""
        found += _validate_audit(checks.name_cell(tree), annotation, where)
        if key in keys:
            found.append(duplicate(f"{where}.key", key))
        keys.add(key)
    return found


def _validate_mutation(mutation: Tree, field: str) -> list[Violation]:
    kind = mutation.get("patchType") or ""
    fields = {"JSONPatch": "jsonPatch", "ApplyConfiguration": "applyConfiguration"}
    if not kind:
        return [required(f"{field}.patchType")]
    if kind not in fields:
        return [not_supported(f"{field}.patchType", kind, sorted(fields))]
    mine = fields[kind]
    found: list[Violation] = []
    if mutation.get(mine) is None:
        found.append(required(f"{field}.{mine}", f"must be specified when patchType is {kind}"))
    elif not (mutation[mine].get("expression") or "").strip():
        found.append(required(f"{field}.{mine}.expression"))
    for other in fields.values():
        if other != mine and mutation.get(other) is not None:
            text = f"must not be specified when patchType is {kind}"
            found.append(invalid(f"{field}.{other}", f"{{{other}}}", text))
    return found


def _validate_mutating(tree: Tree) -> list[Violation]:
    spec = tree.get("spec") or {}
    found = _validate_head(spec)
    match = spec.get("matchConstraints")
    if match is not None:
        found += matching.only_mutable_operations(match, "spec.matchConstraints")
    found += _validate_conditions(spec)
    mutations = spec.get("mutations") or []
    if not mutations:
        found.append(required("spec.mutations", "mutations must contain at least one item"))
    for index, mutation in enumerate(mutations):
        found += _validate_mutation(mutation, f"spec.mutations[{index}]")
    policy = spec.get("reinvocationPolicy")
    return found + checks.one_of_needed(policy, "spec.reinvocationPolicy", ["IfNeeded", "Never"])


def _validate_param_reference(reference: Tree | None, field: str) -> list[Violation]:
    if reference is None:
        return []
    name, selector = reference.get("name") or "", reference.get("selector")
    found: list[Violation] = []
    if name:
        found += checks.each(names.path_segment(name), f"{field}.name", name)
        if selector is not None:
            found.append(forbidden(f"{field}.name", _EXCLUSIVE))
    if selector is not None:
        found += validate_label_selector(selector, f"{field}.selector")
        if name:
            found.append(forbidden(f"{field}.selector", _EXCLUSIVE))
    if not name and selector is None:
        found.append(required(field, "one of name or selector must be specified"))
    action = reference.get("parameterNotFoundAction")
    return found + checks.one_of_needed(
        action, f"{field}.parameterNotFoundAction", ["Deny", "Allow"]
    )


def _validate_bound(spec: Tree) -> list[Violation]:
    """Judge what both sorts of binding have in common."""
    policy = spec.get("policyName")
    found = checks.named(policy, "spec.policyName", names.dns_subdomain)
    found += _validate_param_reference(spec.get("paramRef"), "spec.paramRef")
    return found + matching.validate_match_resources(
        spec.get("matchResources"), "spec.matchResources"
    )


def _validate_validating_binding(tree: Tree) -> list[Violation]:
    spec = tree.get("spec") or {}
    actions, where = spec.get("validationActions") or [], "spec.validationActions"
    found = _validate_bound(spec)
    for index, action in enumerate(actions):
        found += checks.one_of(action, f"{where}[{index}]", _ACTIONS)
        if action in actions[:index]:
            found.append(duplicate(f"{where}[{index}]", action))
    if "Deny" in actions and "Warn" in actions:
        found.append(invalid(where, actions, _DENY_AND_WARN))
    if not actions:
        found.append(required(where, "at least one validation action is required"))
    return found


def _validate_mutating_binding(tree: Tree) -> list[Violation]:
    spec = tree.get("spec") or {}
    match = spec.get("matchResources") or {}
    return _validate_bound(spec) + matching.only_mutable_operations(match, "spec.matchResources")


def _binding_warnings(new: Tree, old: Tree | None) -> list[str]:
    return [NOT_EVALUATED] if old is None or new.get("spec") != old.get("spec") else []


def _policy_cells(tree: Tree, now: float, key: str) -> list[Any]:
    spec = tree.get("spec") or {}
    kind = spec.get("paramKind")
    shown = "<unset>" if kind is None else f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}"
    count = len(spec.get(key) or ())
    return [checks.name_cell(tree), count, shown, checks.age_cell(tree, now)]


def _selector_dump(selector: Tree) -> str:
    """Print a selector as Go prints the struct; the real server's table does no better."""
    labels = "".join(
        f"{key}: {value}," for key, value in sorted((selector.get("matchLabels") or {}).items())
    )
    terms = "".join(
        f"LabelSelectorRequirement{{Key:{term.get('key', '')},Operator:{term.get('operator', '')},"
        f"Values:[{' '.join(term.get('values') or ())}],}},"
        for term in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{terms}}},}}"
    )


def _binding_cells(tree: Tree, now: float) -> list[Any]:
    spec = tree.get("spec") or {}
    reference = spec.get("paramRef") or {}
    shown = "<unset>"
    if reference.get("name"):
        shown = f"{reference.get('namespace') or '*'}/{reference['name']}"
    elif reference.get("selector") is not None:
        shown = _selector_dump(reference["selector"])
    policy = spec.get("policyName") or ""
    return [checks.name_cell(tree), policy, shown, checks.age_cell(tree, now)]


VALIDATING: Final = Rules(
    default=_default_policy,
    prepare_create=checks.without_status(),
    prepare_update=checks.keep_status,
    validate_create=_validate_validating,
    validate_update=lambda new, _: _validate_validating(new),
    cells=lambda tree, now: _policy_cells(tree, now, "validations"),
)
VALIDATING_BINDING: Final = Rules(
    default=_default_binding,
    validate_create=_validate_validating_binding,
    validate_update=lambda new, _: _validate_validating_binding(new),
    warnings=_binding_warnings,
    cells=_binding_cells,
)
MUTATING: Final = Rules(
    default=_default_policy,
    validate_create=_validate_mutating,
    validate_update=lambda new, _: _validate_mutating(new),
    cells=lambda tree, now: _policy_cells(tree, now, "mutations"),
)
MUTATING_BINDING: Final = Rules(
    default=_default_binding,
    validate_create=_validate_mutating_binding,
    validate_update=lambda new, _: _validate_mutating_binding(new),
    warnings=_binding_warnings,
    cells=_binding_cells,
)
_GROUP: Final = "admissionregistration.k8s.io"
DECLARATIONS: Final = {
    f"validatingadmissionpolicies.{_GROUP}": Declared(
        generation="spec", needs_revision_on_put=True, rules=VALIDATING
    ),
    f"validatingadmissionpolicybindings.{_GROUP}": Declared(
        generation="spec", needs_revision_on_put=True, rules=VALIDATING_BINDING
    ),
    f"mutatingadmissionpolicies.{_GROUP}": Declared(
        generation="spec", needs_revision_on_put=True, rules=MUTATING
    ),
    f"mutatingadmissionpolicybindings.{_GROUP}": Declared(
        generation="spec", needs_revision_on_put=True, rules=MUTATING_BINDING
    ),
}

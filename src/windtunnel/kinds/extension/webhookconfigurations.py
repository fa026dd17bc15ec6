"""Webhook configurations: whom the API server asks before it writes.

Source: admissionregistration.k8s.io/v1 of v1.36.3.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.extension import admission_matching as matching
from windtunnel.kinds.extension.webhook_clients import (
    default_service,
    validate_client,
    validate_review_versions,
)
from windtunnel.kinds.rules import checks
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.machinery import names
from windtunnel.machinery.selectors import validate_label_selector
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import (
    Violation,
    duplicate,
    invalid,
    not_supported,
    required,
)

_SIDE_EFFECTS: Final = ["None", "NoneOnDryRun"]
_DEFAULT_TIMEOUT: Final = 10
_LONGEST_TIMEOUT: Final = 30


def _default(tree: Tree) -> None:
    for hook in tree.get("webhooks") or ():
        if hook.get("failurePolicy") is None:
            hook["failurePolicy"] = "Fail"
        matching.default_selectors(hook)
        matching.default_rules(hook.get("rules"))
        if hook.get("timeoutSeconds") is None:
            hook["timeoutSeconds"] = _DEFAULT_TIMEOUT
        default_service(hook.get("clientConfig"))


def _default_mutating(tree: Tree) -> None:
    _default(tree)
    for hook in tree.get("webhooks") or ():
        if hook.get("reinvocationPolicy") is None:
            hook["reinvocationPolicy"] = "Never"


def _validate_name(name: str, field: str) -> list[Violation]:
    if not name:
        return [required(field)]
    wrong = names.dns_subdomain(name)
    if wrong:
        return [invalid(field, name, ",".join(wrong))]
    if name.count(".") < 2:
        text = "should be a domain with at least three segments separated by dots"
        return [invalid(field, name, text)]
    return []


def _validate_hook(hook: Tree, field: str, *, mutating: bool) -> list[Violation]:
    found = _validate_name(hook.get("name") or "", f"{field}.name")
    for index, rule in enumerate(hook.get("rules") or ()):
        found += matching.validate_rule(rule, f"{field}.rules[{index}]")
    for key, allowed in (
        ("failurePolicy", matching.FAILURE_POLICIES),
        ("matchPolicy", matching.MATCH_POLICIES),
    ):
        if hook.get(key) is not None:
            found += checks.one_of(hook[key], f"{field}.{key}", allowed)
    effects = hook.get("sideEffects")
    if effects is None:
        text = f"must specify one of {', '.join(_SIDE_EFFECTS)}"
        found.append(required(f"{field}.sideEffects", text))
    elif effects not in _SIDE_EFFECTS:
        found.append(not_supported(f"{field}.sideEffects", effects, _SIDE_EFFECTS))
    timeout = hook.get("timeoutSeconds")
    if timeout is not None and not 1 <= timeout <= _LONGEST_TIMEOUT:
        text = f"the timeout value must be between 1 and {_LONGEST_TIMEOUT} seconds"
        found.append(invalid(f"{field}.timeoutSeconds", timeout, text))
    for key in ("namespaceSelector", "objectSelector"):
        found += validate_label_selector(hook.get(key), f"{field}.{key}")
    if mutating and hook.get("reinvocationPolicy") is not None:
        allowed = ["IfNeeded", "Never"]
        found += checks.one_of(hook["reinvocationPolicy"], f"{field}.reinvocationPolicy", allowed)
    found += validate_client(hook.get("clientConfig") or {}, f"{field}.clientConfig")
    conditions = hook.get("matchConditions")
    return found + matching.validate_conditions(
        conditions, f"{field}.matchConditions", evaluated=True
    )


def _validate(tree: Tree, *, mutating: bool) -> list[Violation]:
    found: list[Violation] = []
    seen: set[str] = set()
    for index, hook in enumerate(tree.get("webhooks") or ()):
        where, name = f"webhooks[{index}]", hook.get("name") or ""
        found += _validate_hook(hook, where, mutating=mutating)
        found += validate_review_versions(
            hook.get("admissionReviewVersions") or [], f"{where}.admissionReviewVersions"
        )
        if name and name in seen:
            found.append(duplicate(f"{where}.name", name))
        seen.add(name)
    return found


def _cells(tree: Tree, now: float) -> list[Any]:
    return [checks.name_cell(tree), len(tree.get("webhooks") or ()), checks.age_cell(tree, now)]


VALIDATING: Final = Rules(
    default=_default,
    validate_create=lambda tree: _validate(tree, mutating=False),
    validate_update=lambda new, _: _validate(new, mutating=False),
    cells=_cells,
)
MUTATING: Final = Rules(
    default=_default_mutating,
    validate_create=lambda tree: _validate(tree, mutating=True),
    validate_update=lambda new, _: _validate(new, mutating=True),
    cells=_cells,
)
DECLARATIONS: Final = {
    "validatingwebhookconfigurations.admissionregistration.k8s.io": Declared(
        generation="custom", needs_revision_on_put=True, rules=VALIDATING
    ),
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": Declared(
        generation="custom", needs_revision_on_put=True, rules=MUTATING
    ),
}

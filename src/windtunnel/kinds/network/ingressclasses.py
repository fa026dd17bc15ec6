"""Ingress classes: who serves which ingresses.

Source: networking.k8s.io/v1 of v1.36.3.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.network.ingresses import validate_typed_reference
from windtunnel.kinds.rules import checks
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import Violation, forbidden, required, too_long

_DEFAULT_ANNOTATION: Final = "ingressclass.kubernetes.io/is-default-class"
_LONGEST_CONTROLLER: Final = 250
_PARAMETERS: Final = "spec.parameters"


def _default(tree: Tree) -> None:
    parameters = dig(tree, "spec", "parameters")
    if parameters is not None and parameters.get("scope") is None:
        parameters["scope"] = "Cluster"


def _validate_parameters(parameters: Tree) -> list[Violation]:
    found = validate_typed_reference(parameters, _PARAMETERS)
    scope, namespace = parameters.get("scope"), parameters.get("namespace")
    if scope is None:
        return [*found, required(f"{_PARAMETERS}.scope")]
    where = f"{_PARAMETERS}.namespace"
    if scope == "Namespace":
        if namespace is None:
            found.append(required(where, "`parameters.scope` is set to 'Namespace'"))
        else:
            found += checks.each(names.dns_label(namespace), where, namespace)
    elif scope == "Cluster":
        if namespace is not None:
            found.append(forbidden(where, "`parameters.scope` is set to 'Cluster'"))
    else:
        found += checks.one_of(scope, f"{_PARAMETERS}.scope", ["Cluster", "Namespace"])
    return found


def _validate(tree: Tree) -> list[Violation]:
    spec = tree.get("spec") or {}
    controller = spec.get("controller") or ""
    found: list[Violation] = []
    if len(controller) > _LONGEST_CONTROLLER:
        found.append(too_long("spec.controller", _LONGEST_CONTROLLER))
    found += checks.domain_prefixed_path(controller, "spec.controller")
    if spec.get("parameters") is not None:
        found += _validate_parameters(spec["parameters"])
    return found


def _validate_update(new: Tree, old: Tree) -> list[Violation]:
    controller, before = dig(new, "spec", "controller"), dig(old, "spec", "controller")
    return checks.immutable(controller, before, "spec.controller") + _validate(new)


def _cells(tree: Tree, now: float) -> list[Any]:
    spec = tree.get("spec") or {}
    parameters, name = spec.get("parameters"), checks.name_cell(tree)
    if dig(tree, "metadata", "annotations", _DEFAULT_ANNOTATION) == "true":
        name += " (default)"
    shown = "<none>"
    if parameters is not None:
        group = parameters.get("apiGroup")
        kind = parameters.get("kind", "") + ("" if group is None else f".{group}")
        shown = f"{kind}/{parameters.get('name', '')}"
    return [name, spec.get("controller") or "", shown, checks.age_cell(tree, now)]


RULES: Final = Rules(
    default=_default,
    validate_create=_validate,
    validate_update=_validate_update,
    cells=_cells,
)
DECLARATIONS: Final = {"ingressclasses.networking.k8s.io": Declared(generation="spec", rules=RULES)}

"""Roles and cluster roles: which verbs on which resources.

Source: rbac.authorization.k8s.io/v1 of v1.36.3.
"""

from __future__ import annotations

from typing import Final

from windtunnel.kinds.rules import checks
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.machinery import names
from windtunnel.machinery.selectors import validate_label_selector
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import Violation, invalid, required

_SELECTORS: Final = "aggregationRule.clusterRoleSelectors"


def _validate_rule(rule: Tree, field: str, *, namespaced: bool) -> list[Violation]:
    found: list[Violation] = []
    if not rule.get("verbs"):
        found.append(required(f"{field}.verbs", "verbs must contain at least one value"))
    urls = rule.get("nonResourceURLs")
    if urls:
        where = f"{field}.nonResourceURLs"
        if namespaced:
            text = "namespaced rules cannot apply to non-resource URLs"
            found.append(invalid(where, urls, text))
        if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            text = "rules cannot apply to both regular resources and non-resource URLs"
            found.append(invalid(where, urls, text))
        return found
    if not rule.get("apiGroups"):
        text = "resource rules must supply at least one api group"
        found.append(required(f"{field}.apiGroups", text))
    if not rule.get("resources"):
        text = "resource rules must supply at least one resource"
        found.append(required(f"{field}.resources", text))
    return found


def _validate_rules(tree: Tree, *, namespaced: bool) -> list[Violation]:
    return [
        found
        for index, rule in enumerate(tree.get("rules") or ())
        for found in _validate_rule(rule, f"rules[{index}]", namespaced=namespaced)
    ]


def _validate_role(tree: Tree) -> list[Violation]:
    return _validate_rules(tree, namespaced=True)


def _validate_cluster_role(tree: Tree) -> list[Violation]:
    found = _validate_rules(tree, namespaced=False)
    aggregation = tree.get("aggregationRule")
    if aggregation is None:
        return found
    selectors = aggregation.get("clusterRoleSelectors") or []
    if not selectors:
        text = "at least one clusterRoleSelector required if aggregationRule is non-nil"
        found.append(required(_SELECTORS, text))
    for index, selector in enumerate(selectors):
        where = f"{_SELECTORS}[{index}]"
        wrong = validate_label_selector(selector, where)
        found += wrong
        if wrong:
            found.append(invalid(where, None, "invalid label selector."))
    return found


ROLE: Final = Rules(
    validate_create=_validate_role,
    validate_update=lambda new, _: _validate_role(new),
    cells=checks.name_and_stamp,
)
CLUSTER_ROLE: Final = Rules(
    validate_create=_validate_cluster_role,
    validate_update=lambda new, _: _validate_cluster_role(new),
    cells=checks.name_and_stamp,
)
DECLARATIONS: Final = {
    "roles.rbac.authorization.k8s.io": Declared(
        creates_on_put=True, metadata_judged=(1, 1), rules=ROLE, name_rule=names.path_segment
    ),
    "clusterroles.rbac.authorization.k8s.io": Declared(
        creates_on_put=True,
        metadata_judged=(1, 1),
        rules=CLUSTER_ROLE,
        name_rule=names.path_segment,
    ),
}

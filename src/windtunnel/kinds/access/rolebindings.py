"""Role bindings and cluster role bindings: who has a role.

Source: rbac.authorization.k8s.io/v1 of v1.36.3.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.rules import checks
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import Violation, invalid, not_supported, required

_GROUP: Final = "rbac.authorization.k8s.io"


def _default(tree: Tree) -> None:
    reference = tree.setdefault("roleRef", {})
    if not reference.get("apiGroup"):
        reference["apiGroup"] = _GROUP
    for subject in tree.get("subjects") or ():
        if subject.get("kind") in ("User", "Group") and not subject.get("apiGroup"):
            subject["apiGroup"] = _GROUP


def _validate_subject(subject: Tree, field: str, *, namespaced: bool) -> list[Violation]:
    name, group = subject.get("name") or "", subject.get("apiGroup") or ""
    found = [] if name else [required(f"{field}.name")]
    match subject.get("kind"):
        case "ServiceAccount":
            if name:
                found += checks.each(names.dns_subdomain(name), f"{field}.name", name)
            found += checks.one_of(group, f"{field}.apiGroup", [""])
            if not namespaced and not subject.get("namespace"):
                found.append(required(f"{field}.namespace"))
        case "User" | "Group":
            found += checks.one_of(group, f"{field}.apiGroup", [_GROUP])
        case other:
            allowed = ["ServiceAccount", "User", "Group"]
            found.append(not_supported(f"{field}.kind", other or "", allowed))
    return found


def _validate(tree: Tree, *, namespaced: bool) -> list[Violation]:
    reference = tree.get("roleRef") or {}
    found = checks.one_of(reference.get("apiGroup") or "", "roleRef.apiGroup", [_GROUP])
    kinds = ["Role", "ClusterRole"] if namespaced else ["ClusterRole"]
    found += checks.one_of(reference.get("kind") or "", "roleRef.kind", kinds)
    found += checks.named(reference.get("name"), "roleRef.name", names.path_segment)
    for index, subject in enumerate(tree.get("subjects") or ()):
        found += _validate_subject(subject, f"subjects[{index}]", namespaced=namespaced)
    return found


def _validate_update(new: Tree, old: Tree, *, namespaced: bool) -> list[Violation]:
    found = _validate(new, namespaced=namespaced)
    reference = new.get("roleRef")
    if reference != old.get("roleRef"):
        shown = checks.go_value(reference)
        found.append(invalid("roleRef", shown, "cannot change roleRef"))
    return found


def _cells(tree: Tree, now: float) -> list[Any]:
    reference, subjects = tree.get("roleRef") or {}, tree.get("subjects") or []
    named: dict[str, list[str]] = {"User": [], "Group": [], "ServiceAccount": []}
    for subject in subjects:
        kind, name = subject.get("kind"), subject.get("name", "")
        if kind == "ServiceAccount":
            name = f"{subject.get('namespace', '')}/{name}"
        if kind in named:
            named[kind].append(name)
    return [
        checks.name_cell(tree),
        f"{reference.get('kind', '')}/{reference.get('name', '')}",
        checks.age_cell(tree, now),
        *(", ".join(some) for some in named.values()),
    ]


ROLE_BINDING: Final = Rules(
    default=_default,
    validate_create=lambda tree: _validate(tree, namespaced=True),
    validate_update=lambda new, old: _validate_update(new, old, namespaced=True),
    cells=_cells,
)
CLUSTER_ROLE_BINDING: Final = Rules(
    default=_default,
    validate_create=lambda tree: _validate(tree, namespaced=False),
    validate_update=lambda new, old: _validate_update(new, old, namespaced=False),
    cells=_cells,
)
DECLARATIONS: Final = {
    "rolebindings.rbac.authorization.k8s.io": Declared(
        creates_on_put=True,
        metadata_judged=(1, 1),
        rules=ROLE_BINDING,
        name_rule=names.path_segment,
    ),
    "clusterrolebindings.rbac.authorization.k8s.io": Declared(
        creates_on_put=True,
        metadata_judged=(1, 1),
        rules=CLUSTER_ROLE_BINDING,
        name_rule=names.path_segment,
    ),
}

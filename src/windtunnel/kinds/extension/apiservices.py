"""API services: which server answers for which group version.

Source: apiregistration.k8s.io/v1 of v1.36.3.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.extension.webhook_clients import default_service
from windtunnel.kinds.rules import checks
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    invalid,
    required,
)

_HIGHEST: Final = {"groupPriorityMinimum": 20000, "versionPriority": 1000}


def _default(tree: Tree) -> None:
    default_service(tree.get("spec"))


def _validate_service(service: Tree) -> list[Violation]:
    where = "spec.service"
    found = [required(f"{where}.{key}") for key in ("namespace", "name") if not service.get(key)]
    port = service.get("port")
    if port is not None:
        for text in names.port_number(port):
            found.append(invalid(f"{where}.port", port, f"port is not valid: {text}"))
    return found


def _validate(tree: Tree) -> list[Violation]:
    spec = tree.get("spec") or {}
    group, version = spec.get("group") or "", spec.get("version") or ""
    name, expected = checks.name_cell(tree), f"{version}.{group}"
    found: list[Violation] = []
    if name != expected:
        text = f'must be `spec.version+"."+spec.group`: "{expected}"'
        found.append(invalid("metadata.name", name, text))
    if not group and version != "v1":
        text = "only v1 may have an empty group and it better be legacy kube"
        found.append(required("spec.group", text))
    if group:
        found += checks.each(names.dns_subdomain(group), "spec.group", group)
    found += checks.each(names.dns_1035_label(version), "spec.version", version)
    for key, limit in _HIGHEST.items():
        value = spec.get(key) or 0
        if not 0 < value <= limit:
            text = f"must be positive and less than {limit}"
            found.append(invalid(f"spec.{key}", value, text))
    service, skips = spec.get("service"), spec.get("insecureSkipTLSVerify") or False
    if service is not None:
        found += _validate_service(service)
        if skips and spec.get("caBundle"):
            text = "may not be true if caBundle is present"
            found.append(invalid("spec.insecureSkipTLSVerify", True, text))
        return found
    if spec.get("caBundle"):
        text = "local APIServices may not have a caBundle"
        found.append(invalid("spec.caBundle", f"{len(spec['caBundle'])} bytes", text))
    if skips:
        text = "local APIServices may not have insecureSkipTLSVerify"
        found.append(invalid("spec.insecureSkipTLSVerify", True, text))
    return found


def _cells(tree: Tree, now: float) -> list[Any]:
    service = dig(tree, "spec", "service")
    shown, available = "Local", "Unknown"
    if service is not None:
        shown = f"{service.get('namespace', '')}/{service.get('name', '')}"
    for condition in dig(tree, "status", "conditions") or ():
        if condition.get("type") == "Available":
            available = condition.get("status") or ""
            if available != "True" and condition.get("reason"):
                available += f" ({condition['reason']})"
    return [checks.name_cell(tree), shown, available, checks.age_cell(tree, now)]


RULES: Final = Rules(
    default=_default,
    prepare_create=checks.without_status(),
    prepare_update=checks.keep_status,
    validate_create=_validate,
    validate_update=lambda new, _: _validate(new),
    cells=_cells,
)
DECLARATIONS: Final = {
    "apiservices.apiregistration.k8s.io": Declared(
        needs_revision_on_put=True, rules=RULES, name_rule=names.path_segment
    )
}

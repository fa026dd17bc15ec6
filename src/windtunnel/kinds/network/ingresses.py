"""Ingresses: stored and judged; nothing here serves them.

Source: networking.k8s.io/v1 of v1.36.3.
"""

from __future__ import annotations

import ipaddress
from typing import Any, Final

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

_CLASS_ANNOTATION: Final = "kubernetes.io/ingress.class"
_PATH_TYPES: Final = ["Exact", "ImplementationSpecific", "Prefix"]
_MOST_HOSTS_SHOWN: Final = 3


def _empty_status() -> Tree:
    return {"loadBalancer": {}}


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _validate_host(host: str, field: str) -> list[Violation]:
    rule = names.wildcard_subdomain if "*" in host else names.dns_subdomain
    return checks.each(rule(host), field, host)


def validate_typed_reference(reference: Tree, field: str) -> list[Violation]:
    """Judge a reference to an object of any group: apiGroup, kind, name."""
    found: list[Violation] = []
    group = reference.get("apiGroup")
    if group is not None:
        found += checks.each(names.dns_subdomain(group), f"{field}.apiGroup", group)
    for key in ("kind", "name"):
        found += checks.named(reference.get(key), f"{field}.{key}", names.path_segment)
    return found


def _validate_backend(backend: Tree, field: str) -> list[Violation]:
    resource, service = backend.get("resource"), backend.get("service")
    if resource is not None and service is not None:
        return [invalid(field, "", "cannot set both resource and service backends")]
    if resource is not None:
        return validate_typed_reference(resource, f"{field}.resource")
    if service is None:
        return [invalid(field, "", "resource or service backend is required")]
    found = checks.named(service.get("name"), f"{field}.service.name", names.dns_label)
    port = service.get("port") or {}
    name, number = port.get("name") or "", port.get("number") or 0
    if name and number:
        found.append(invalid(field, "", "cannot set both port name & port number"))
    elif name:
        found += checks.each(names.port_name(name), f"{field}.service.port.name", name)
    elif number:
        found += checks.each(names.port_number(number), f"{field}.service.port.number", number)
    else:
        found.append(required(field, "port name or number is required"))
    return found


def _validate_path(rule: Tree, field: str) -> list[Violation]:
    kind, path = rule.get("pathType"), rule.get("path") or ""
    if kind is None:
        return [required(f"{field}.pathType", "pathType must be specified")]
    found = checks.one_of(kind, f"{field}.pathType", _PATH_TYPES)
    exact = kind in ("Exact", "Prefix")
    absolute = path.startswith("/") or (not path and not exact)
    if not found and not absolute:
        found.append(invalid(f"{field}.path", path, "must be an absolute path"))
    if exact:
        for part in ("//", "/./", "/../", "%2f", "%2F"):
            if part in path:
                found.append(invalid(f"{field}.path", path, f"must not contain '{part}'"))
        for end in ("/..", "/."):
            if path.endswith(end):
                found.append(invalid(f"{field}.path", path, f"cannot end with '{end}'"))
    return found + _validate_backend(rule.get("backend") or {}, f"{field}.backend")


def _validate_rule(rule: Tree, field: str) -> list[Violation]:
    host, http = rule.get("host") or "", rule.get("http")
    found: list[Violation] = []
    if host:
        if _is_address(host):
            text = "must be a DNS name, not an IP address"
            found.append(invalid(f"{field}.host", host, text))
        found += _validate_host(host, f"{field}.host")
    if http is None:
        return found
    paths = http.get("paths") or []
    if not paths:
        found.append(required(f"{field}.http.paths"))
    for index, path in enumerate(paths):
        found += _validate_path(path, f"{field}.http.paths[{index}]")
    return found


def _validate(tree: Tree) -> list[Violation]:
    spec = tree.get("spec") or {}
    rules, backend = spec.get("rules") or [], spec.get("defaultBackend")
    found: list[Violation] = []
    if not rules and backend is None:
        text = "either `defaultBackend` or `rules` must be specified"
        found.append(invalid("spec", None, text))
    if backend is not None:
        found += _validate_backend(backend, "spec.defaultBackend")
    for index, rule in enumerate(rules):
        found += _validate_rule(rule, f"spec.rules[{index}]")
    for index, tls in enumerate(spec.get("tls") or ()):
        where = f"spec.tls[{index}]"
        for number, host in enumerate(tls.get("hosts") or ()):
            found += _validate_host(host, f"{where}.hosts[{number}]")
        secret = tls.get("secretName") or ""
        if secret:
            found += checks.each(names.dns_subdomain(secret), f"{where}.secretName", secret)
    chosen = spec.get("ingressClassName")
    if chosen is not None:
        found += checks.each(names.dns_subdomain(chosen), "spec.ingressClassName", chosen)
    return found


def _validate_create(tree: Tree) -> list[Violation]:
    found = _validate(tree)
    noted = dig(tree, "metadata", "annotations", _CLASS_ANNOTATION)
    chosen = dig(tree, "spec", "ingressClassName")
    if noted is not None and chosen is not None and noted != chosen:
        text = "must match `ingressClassName` when both are specified"
        found.append(invalid(f"annotations.{_CLASS_ANNOTATION}", noted, text))
    return found


def _validate_status(new: Tree, _: Tree) -> list[Violation]:
    found: list[Violation] = []
    for index, point in enumerate(dig(new, "status", "loadBalancer", "ingress") or ()):
        where = f"status.loadBalancer.ingress[{index}]"
        address, host = point.get("ip") or "", point.get("hostname") or ""
        if address:
            found += checks.each(names.ip_address(address), f"{where}.ip", address)
        if host:
            found += checks.each(names.dns_subdomain(host), f"{where}.hostname", host)
            if _is_address(host):
                text = "must be a DNS name, not an IP address"
                found.append(invalid(f"{where}.hostname", host, text))
    return found


def _warnings(new: Tree, old: Tree | None) -> list[str]:
    if old is not None or _CLASS_ANNOTATION not in (dig(new, "metadata", "annotations") or {}):
        return []
    return [
        f'annotation "{_CLASS_ANNOTATION}" is deprecated, please use'
        " 'spec.ingressClassName' instead"
    ]


def _hosts_cell(rules: list[Tree]) -> str:
    hosts = [rule["host"] for rule in rules if rule.get("host")]
    if not hosts:
        return "*"
    shown = ",".join(hosts[:_MOST_HOSTS_SHOWN])
    # Whether there is more is asked per rule: one without a host counts once three are shown.
    full = 0
    for index, rule in enumerate(rules):
        full += bool(rule.get("host"))
        if full == _MOST_HOSTS_SHOWN and index + 1 < len(rules):
            return f"{shown} + {len(rules) - _MOST_HOSTS_SHOWN} more..."
    return shown


def _cells(tree: Tree, now: float) -> list[Any]:
    spec = tree.get("spec") or {}
    chosen = spec.get("ingressClassName")
    points = dig(tree, "status", "loadBalancer", "ingress") or []
    addresses = {point.get("ip") or point.get("hostname") or "" for point in points} - {""}
    return [
        checks.name_cell(tree),
        "<none>" if chosen is None else chosen,
        _hosts_cell(spec.get("rules") or []),
        ",".join(sorted(addresses)),
        "80, 443" if spec.get("tls") else "80",
        checks.age_cell(tree, now),
    ]


RULES: Final = Rules(
    prepare_create=checks.without_status(_empty_status),
    prepare_update=checks.keep_status,
    validate_create=_validate_create,
    validate_update=lambda new, _: _validate(new),
    validate_status=_validate_status,
    warnings=_warnings,
    cells=_cells,
)
DECLARATIONS: Final = {"ingresses.networking.k8s.io": Declared(generation="spec", rules=RULES)}

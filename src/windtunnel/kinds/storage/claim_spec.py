"""What a claim for a volume asks for; pods carry it too, as a template of an ephemeral volume."""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.rules.checks import each
from windtunnel.kinds.rules.resource_names import amount
from windtunnel.machinery import names
from windtunnel.machinery.quantity import parse
from windtunnel.machinery.selectors import validate_label_selector
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    forbidden,
    invalid,
    not_supported,
    required,
)

ACCESS_MODES: Final = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"]
VOLUME_MODES: Final = ["Block", "Filesystem"]
NOT_POSITIVE: Final = "must be greater than zero"


def access_modes(modes: Any, field: str) -> list[Violation]:
    """Judge ways of access: known ones, and the single-pod one only alone."""
    found: list[Violation] = []
    for mode in modes or ():
        if mode not in ACCESS_MODES:
            found.append(not_supported(field, mode, ACCESS_MODES))
    known = {mode for mode in modes or () if mode in ACCESS_MODES}
    if "ReadWriteOncePod" in known and len(known) > 1:
        text = "may not use ReadWriteOncePod with other access modes"
        found.append(forbidden(field, text))
    return found


def positive(value: Any, field: str) -> list[Violation]:
    """Judge a quantity that must be above zero."""
    quantity = parse(value)
    return [] if quantity.nanos > 0 else [invalid(field, str(quantity), NOT_POSITIVE)]


def _source(source: Tree, field: str) -> list[Violation]:
    found = [required(f"{field}.{part}") for part in ("name", "kind") if not source.get(part)]
    group, kind = source.get("apiGroup") or "", source.get("kind", "")
    if not group and kind != "PersistentVolumeClaim":
        text = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        found.append(invalid(field, kind, text))
    if group:
        found += each(names.dns_subdomain(group), f"{field}.apiGroup", group)
    if namespace := source.get("namespace"):
        found += each(names.dns_label(namespace), f"{field}.namespace", namespace)
    return found


def validate_claim_spec(spec: Tree, field: str) -> list[Violation]:
    """Judge the spec of a claim."""
    found: list[Violation] = []
    if not spec.get("accessModes"):
        found.append(required(f"{field}.accessModes", "at least 1 access mode is required"))
    found += validate_label_selector(spec.get("selector"), f"{field}.selector")
    found += access_modes(spec.get("accessModes"), f"{field}.accessModes")
    where, size = f"{field}.resources[storage]", dig(spec, "resources", "requests", "storage")
    if size is None:
        found.append(required(where))
    else:
        found += positive(size, where) or amount("storage", size, where)
    for key in ("storageClassName", "volumeAttributesClassName"):
        if key == "volumeAttributesClassName":
            found += _volume_source(spec, field)
        if name := spec.get(key):
            found += each(names.dns_subdomain(name), f"{field}.{key}", name)
    return found


def _volume_source(spec: Tree, field: str) -> list[Violation]:
    found: list[Violation] = []
    mode = spec.get("volumeMode")
    if mode is not None and mode not in VOLUME_MODES:
        found.append(not_supported(f"{field}.volumeMode", mode, VOLUME_MODES))
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None:
        found += _source(source, f"{field}.dataSource")
    if reference is not None:
        found += _source(reference, f"{field}.dataSourceRef")
    if source is None or reference is None:
        return found
    if reference.get("namespace"):
        text = "may not be specified when dataSourceRef.namespace is specified"
        found.append(invalid(field, {}, text))
    elif any(source.get(key) != reference.get(key) for key in ("apiGroup", "kind", "name")):
        found.append(invalid(field, {}, "must match dataSourceRef"))
    return found

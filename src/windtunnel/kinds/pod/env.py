"""Environment of containers, and references into the pod itself (the downward API)."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any, Final

from windtunnel.kinds.rules.checks import each
from windtunnel.machinery import names
from windtunnel.machinery.quantity import canonical
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import Violation, invalid, not_supported, required

IN_ENVIRONMENT: Final = frozenset({
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
    "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
})  # fmt: skip
IN_VOLUME: Final = frozenset({
    "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace",
    "metadata.uid",
})  # fmt: skip
_KNOWN_FIELDS: Final = (
    IN_ENVIRONMENT | IN_VOLUME | {"spec.restartPolicy", "spec.schedulerName", "status.phase"}
)
_RESOURCE_FIELDS: Final = frozenset(
    f"{part}.{name}"
    for part in ("limits", "requests")
    for name in ("cpu", "memory", "ephemeral-storage")
)
_HUGE_PAGES: Final = ("limits.hugepages-", "requests.hugepages-")
_CPU_DIVISORS: Final = frozenset({"1m", "1"})
_BYTE_DIVISORS: Final = (
    "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei",
)  # fmt: skip
_BYTE_KINDS: Final = {"memory": "memory", "ephemeral-storage": "local ephemeral storage"}
_SUBSCRIPTED: Final = re.compile(r"([^\['\]]+)\['(.*)'\]")


def validate_env(variables: Sequence[Tree], field: str) -> list[Violation]:
    """Judge the variables of a container."""
    found: list[Violation] = []
    for index, variable in enumerate(variables):
        name = variable.get("name", "")
        if not name:
            found.append(required(f"{field}[{index}].name"))
        elif texts := names.env_name(name):
            found += each(texts, f"{field}[{index}].name", name)
        source = variable.get("valueFrom")
        if source is not None:
            found += _source(source, variable.get("value", ""), f"{field}[{index}].valueFrom")
    return found


def _source(source: Tree, value: str, field: str) -> list[Violation]:
    found: list[Violation] = []
    count = 0
    if (reference := source.get("fieldRef")) is not None:
        count += 1
        found += field_reference(reference, IN_ENVIRONMENT, f"{field}.fieldRef")
    if (reference := source.get("resourceFieldRef")) is not None:
        count += 1
        found += resource_reference(reference, f"{field}.resourceFieldRef", in_volume=False)
    for part in ("configMapKeyRef", "secretKeyRef"):
        if (reference := source.get(part)) is not None:
            count += 1
            found += _key_reference(reference, f"{field}.{part}")
    if (reference := source.get("fileKeyRef")) is not None:
        count += 1
        found += _file_reference(reference, f"{field}.fileKeyRef")
    if count == 0:
        text = (
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`,"
            " `secretKeyRef` or `fileKeyRef`"
        )
        found.append(invalid(field, "", text))
    elif value:
        found.append(invalid(field, "", "may not be specified when `value` is not empty"))
    elif count > 1:
        found.append(invalid(field, "", "may not have more than one field specified at a time"))
    return found


def field_reference(reference: Tree, allowed: Collection[str], field: str) -> list[Violation]:
    """Judge a ``fieldRef``: a field that may be read here."""
    version, path = reference.get("apiVersion", ""), reference.get("fieldPath", "")
    if not version:
        return [required(f"{field}.apiVersion")]
    if not path:
        return [required(f"{field}.fieldPath")]
    if version != "v1":
        return _not_converted(f"unsupported pod version: {version}", path, field)
    subscripted = _SUBSCRIPTED.fullmatch(path)
    if subscripted:
        where, key = subscripted.groups()
        if where == "metadata.annotations":
            return each(names.label_key(key.lower()), field, key.lower())
        if where == "metadata.labels":
            return each(names.label_key(key), field, key)
        return _not_converted(f"field label does not support subscript: {path}", path, field)
    if path == "spec.host":
        path = "spec.nodeName"
    if path not in _KNOWN_FIELDS:
        return _not_converted(f"field label not supported: {path}", path, field)
    if path not in allowed:
        return [not_supported(f"{field}.fieldPath", path, sorted(allowed))]
    return []


def _not_converted(why: str, path: str, field: str) -> list[Violation]:
    return [invalid(f"{field}.fieldPath", path, f"error converting fieldPath: {why}")]


def resource_reference(reference: Tree, field: str, *, in_volume: bool) -> list[Violation]:
    """Judge a ``resourceFieldRef``: a request or limit, and the unit it is given in."""
    found: list[Violation] = []
    resource = reference.get("resource", "")
    if in_volume and not reference.get("containerName"):
        found.append(required(f"{field}.containerName"))
    elif not resource:
        found.append(required(f"{field}.resource"))
    elif resource not in _RESOURCE_FIELDS and not resource.startswith(_HUGE_PAGES):
        found.append(not_supported(f"{field}.resource", resource, sorted(_RESOURCE_FIELDS)))
    return found + _divisor(resource, reference.get("divisor"), f"{field}.divisor")


def _divisor(resource: str, divisor: Any, field: str) -> list[Violation]:
    text = canonical(divisor) if divisor is not None else "0"
    if text == "0":
        return []
    name = resource.partition(".")[2]
    if name == "cpu":
        if text in _CPU_DIVISORS:
            return []
        why = "only divisor's values 1m and 1 are supported with the cpu resource"
        return [invalid(field, resource, why)]
    kind = "hugepages" if resource.startswith(_HUGE_PAGES) else _BYTE_KINDS.get(name)
    if kind is None or text in _BYTE_DIVISORS:
        return []
    allowed = ", ".join(_BYTE_DIVISORS)
    why = f"only divisor's values {allowed} are supported with the {kind} resource"
    return [invalid(field, resource, why)]


def _key_reference(reference: Tree, field: str) -> list[Violation]:
    name, key = reference.get("name", ""), reference.get("key", "")
    found = each(names.dns_subdomain(name), f"{field}.name", name)
    if not key:
        return [*found, required(f"{field}.key")]
    return found + each(names.config_key(key), f"{field}.key", key)


def _file_reference(reference: Tree, field: str) -> list[Violation]:
    key, volume = reference.get("key", ""), reference.get("volumeName", "")
    found = each(names.env_name(key), f"{field}.key", key) if key else [required(f"{field}.key")]
    if volume:
        found += each(names.dns_label(volume), f"{field}.volumeName", volume)
    else:
        found.append(required(f"{field}.volumeName"))
    path = reference.get("path", "")
    if not path:
        found.append(required(f"{field}.path"))
    elif ".." in path.split("/"):
        found.append(invalid(f"{field}.path", path, "must not contain '..'"))
    return found


def validate_env_from(sources: Sequence[Tree], field: str) -> list[Violation]:
    """Judge whole ConfigMaps and Secrets that become variables."""
    found: list[Violation] = []
    for index, source in enumerate(sources):
        where = f"{field}[{index}]"
        if prefix := source.get("prefix"):
            found += each(names.env_name(prefix), f"{where}.prefix", prefix)
        count = 0
        for part in ("configMapRef", "secretRef"):
            if (reference := source.get(part)) is not None:
                count += 1
                found += _whole_reference(reference, f"{where}.{part}")
        if count == 0:
            found.append(invalid(field, "", "must specify one of: `configMapRef` or `secretRef`"))
        elif count > 1:
            text = "may not have more than one field specified at a time"
            found.append(invalid(field, "", text))
    return found


def _whole_reference(reference: Tree, field: str) -> list[Violation]:
    name = reference.get("name", "")
    if not name:
        return [required(f"{field}.name")]
    return each(names.generated(names.dns_subdomain)(name), f"{field}.name", name)

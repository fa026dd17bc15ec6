"""Nodes: what a machine offers. Their status is theirs to write, so a create keeps it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from windtunnel.kinds.network.address_warnings import range_warnings
from windtunnel.kinds.pod.scheduling import EFFECTS
from windtunnel.kinds.pod.spec_defaults import default_resource_list
from windtunnel.kinds.rules.checks import (
    age_cell,
    each,
    go_value,
    internal,
    keep_alike,
    name_cell,
    restore,
)
from windtunnel.kinds.rules.json_annotations import UnreadableError, read_json, read_list
from windtunnel.kinds.rules.resource_names import amount
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Context, Rules
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)

_ROLE: Final = "node-role.kubernetes.io/"
_is_feature = re.compile(r"([A-Z][a-zA-Z0-9]*)(/[a-zA-Z0-9]+)*").fullmatch
_TAINTS: Final = "scheduler.alpha.kubernetes.io/taints"
_TAINT: Final = {"key": str, "value": str, "effect": str, "timeAdded": str}
_AVOID: Final = "scheduler.alpha.kubernetes.io/preferAvoidPods"
_CIDR_ONCE: Final = 'node updates may not change podCIDR except from "" to valid'
_PROVIDER_ONCE: Final = 'node updates may not change providerID except from "" to valid'


def validate_taints(taints: Sequence[Tree], field: str) -> list[Violation]:
    """Judge taints: labels with an effect, once for each key and effect."""
    found: list[Violation] = []
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        where = f"{field}[{index}]"
        key, effect = taint.get("key", ""), taint.get("effect", "")
        found += each(names.label_key(key), f"{where}.key", key)
        if texts := names.label_value(taint.get("value", "")):
            found.append(invalid(f"{where}.value", taint["value"], ";".join(texts)))
        if not effect:
            found.append(required(f"{where}.effect"))
        elif effect not in EFFECTS:
            found.append(not_supported(f"{where}.effect", effect, EFFECTS))
        if (key, effect) in seen:
            shown = duplicate(
                where,
                {
                    "Key": key,
                    "Value": taint.get("value", ""),
                    "Effect": effect,
                    "TimeAdded": taint.get("timeAdded"),
                },
            )
            text = f"{shown.message}: taints must be unique by key and effect pair"
            found.append(Violation(where, shown.reason, text))
        seen.add((key, effect))
    return found


def _annotations(node: Tree) -> list[Violation]:
    annotations = dig(node, "metadata", "annotations") or {}
    field, found = "metadata.annotations", []
    if text := annotations.get(_TAINTS):
        try:
            found += validate_taints(read_list(text, "Taint", _TAINT), f"{field}.{_TAINTS}")
        except UnreadableError as problem:
            found.append(invalid(field, _TAINTS, str(problem)))
    if text := annotations.get(_AVOID):
        try:
            found += _avoided(read_json(text), f"{field}.{_AVOID}")
        except UnreadableError as problem:
            found.append(invalid(f"{field}.AvoidPods", _AVOID, str(problem)))
    return found


def _avoided(content: Any, field: str) -> list[Violation]:
    found: list[Violation] = []
    for index, entry in enumerate(dig(content or {}, "preferAvoidPods") or ()):
        where = f"{field}[{index}].PodSignature"
        owner = dig(entry, "podSignature", "podController")
        if owner is None:
            found.append(required(where))
        elif owner.get("controller") is not True:
            text = "must point to a controller"
            at = f"{where}.PodController.Controller"
            found.append(invalid(at, owner.get("controller"), text))
    return found


def _resources(node: Tree) -> list[Violation]:
    found: list[Violation] = []
    for part in ("capacity", "allocatable"):
        for name, value in (dig(node, "status", part) or {}).items():
            found += amount(name, value, f"status.{part}.{name}")
    return found


def _features(node: Tree) -> list[Violation]:
    features = dig(node, "status", "declaredFeatures") or ()
    found: list[Violation] = []
    for index, feature in enumerate(features):
        where = f"status.declaredFeatures[{index}]"
        if not _is_feature(feature):
            text = (
                f'invalid feature name "{feature}": must start with an UpperCamelCase segment,'
                " with subsequent segments separated by '/' (e.g., MyFeature or"
                " MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
            )
            found.append(invalid(where, feature, text))
        if index and feature == features[index - 1]:
            found.append(duplicate(where, feature))
        elif index and feature < features[index - 1]:
            found.append(invalid(where, feature, "list must be sorted alphabetically"))
    return found


def _default(node: Tree) -> None:
    spec = node.get("spec") or {}
    keep_alike(spec, "podCIDR", "podCIDRs", str)
    status = node.get("status")
    if not status:
        return
    default_resource_list(status.get("capacity"))
    if "capacity" in status and "allocatable" not in status:
        status["allocatable"] = dict(status["capacity"])
    default_resource_list(status.get("allocatable"))


def _prepare_update(new: Tree, old: Tree, _: Context) -> None:
    restore(new, old, "status")


def _validate(node: Tree) -> list[Violation]:
    spec = node.get("spec") or {}
    found = _annotations(node)
    found += validate_taints(spec.get("taints") or (), "metadata.taints")
    found += _resources(node)
    found += _features(node)
    ranges = spec.get("podCIDRs") or []
    for index, value in enumerate(ranges):
        found += each(names.ip_range(value), f"spec.podCIDRs[{index}]", value)
    if len(ranges) < 2:
        return found
    broken = [value for value in ranges if names.ip_range(value)]
    if broken:
        text = f"invalid CIDR[{ranges.index(broken[0])}]: <nil> (invalid CIDR address: {broken[0]})"
        why = "invalid PodCIDRs. failed to check with dual stack with error:"
        found.append(internal("spec.podCIDRs", why + text))
    families = {":" in value for value in ranges}
    if broken or len(families) < 2 or len(ranges) > 2:
        text = "may specify no more than one CIDR for each IP family"
        found.append(invalid("spec.podCIDRs", ranges, text))
    return found


def _validate_change(new: Tree, old: Tree) -> list[Violation]:
    found = _annotations(new)
    found += _resources(new)
    found += _features(new)
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    seen: list[Mapping[str, Any]] = []
    for index, address in enumerate(dig(new, "status", "addresses") or ()):
        if address in seen:
            found.append(duplicate(f"status.addresses[{index}]", go_value(address)))
        seen.append(address)
    if (ranges := before.get("podCIDRs")) and ranges != spec.get("podCIDRs"):
        found.append(forbidden("spec.podCIDRs", _CIDR_ONCE))
    if (provider := before.get("providerID")) and provider != spec.get("providerID"):
        found.append(forbidden("spec.providerID", _PROVIDER_ONCE))
    found += validate_taints(spec.get("taints") or (), "metadata.taints")
    if (spec.get("externalID") or "") != (before.get("externalID") or ""):
        found.append(forbidden("spec.externalID", "may not be updated"))
    return found


def _validate_update(new: Tree, old: Tree) -> list[Violation]:
    return _validate(new) + _validate_change(new, old)


def _warnings(new: Tree, old: Tree | None) -> list[str]:
    spec = new.get("spec") or {}
    found: list[str] = []
    if spec.get("configSource") is not None:
        found.append("spec.configSource: the feature is removed")
    if spec.get("externalID"):
        text = "spec.externalID: this field is deprecated, and is unused by Kubernetes"
        found.append(text)
    return found + range_warnings(spec.get("podCIDRs") or (), "spec.podCIDRs")


def _selectable(node: Tree) -> dict[str, str]:
    return {"spec.unschedulable": "true" if dig(node, "spec", "unschedulable") else "false"}


def _address(node: Tree, kind: str) -> str:
    for address in dig(node, "status", "addresses") or ():
        if address.get("type") == kind:
            return str(address.get("address", ""))
    return "<none>"


def _roles(node: Tree) -> str:
    roles = set()
    for key, value in (dig(node, "metadata", "labels") or {}).items():
        if key.startswith(_ROLE) and key != _ROLE:
            roles.add(key.removeprefix(_ROLE))
        elif key == "kubernetes.io/role" and value:
            roles.add(value)
    return ",".join(sorted(roles)) or "<none>"


def _cells(node: Tree, now: float) -> list[Any]:
    about = dig(node, "status", "nodeInfo") or {}
    state = "Unknown"
    for condition in dig(node, "status", "conditions") or ():
        if condition.get("type") == "Ready":
            state = "Ready" if condition.get("status") == "True" else "NotReady"
    if dig(node, "spec", "unschedulable"):
        state += ",SchedulingDisabled"
    kernel = about.get("kernelVersion") or "<unknown>"
    if architecture := about.get("architecture"):
        kernel += f" ({architecture})"
    return [
        name_cell(node),
        state,
        _roles(node),
        age_cell(node, now),
        about.get("kubeletVersion") or "",
        _address(node, "InternalIP"),
        _address(node, "ExternalIP"),
        about.get("osImage") or "<unknown>",
        kernel,
        about.get("containerRuntimeVersion") or "<unknown>",
    ]


DECLARATIONS: Final = {
    "nodes": Declared(
        metadata_judged=(1, 1),
        field_labels=frozenset({"spec.unschedulable"}),
        rules=Rules(
            default=_default,
            prepare_update=_prepare_update,
            validate_create=_validate,
            validate_update=_validate_update,
            validate_status=_validate_change,
            warnings=_warnings,
            selectable=_selectable,
            cells=_cells,
        ),
    )
}

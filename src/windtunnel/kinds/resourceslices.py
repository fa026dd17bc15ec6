"""Resource slices: the devices that a driver offers.

Source: resource.k8s.io/v1 of v1.36.3.
"""

from __future__ import annotations

import re
from typing import Any, Final

from windtunnel.kinds.pod.scheduling import validate_node_selector
from windtunnel.kinds.rules import checks
from windtunnel.kinds.rules.device_requests import (
    TAINT_EFFECTS,
    each_of,
    validate_attribute_name,
    validate_driver,
)
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import Violation, invalid, required, too_long

_SEMVER: Final = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?"
)
_VALUES: Final = ("int", "bool", "string", "version", "ints", "bools", "strings", "versions")
_MOST_DEVICES: Final = 128
_MOST_FEATURED_DEVICES: Final = 64
_MOST_COUNTER_SETS: Final = 8
_MOST_TAINTS: Final = 16
_MOST_FACTS: Final = 32
_LONGEST_TEXT: Final = 64
_LONGEST_POOL: Final = 253
_PLACES: Final = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection`"
_DEVICE_PLACES: Final = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when"
    " `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
)
_NO_DEVICE_PLACES: Final = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set"
    " to true in the ResourceSlice spec"
)


def _pool(pool: Tree) -> list[Violation]:
    name, where = pool.get("name") or "", "spec.pool.name"
    found: list[Violation] = []
    if not name:
        found.append(required(where))
    else:
        if len(name) > _LONGEST_POOL:
            found.append(too_long(where, _LONGEST_POOL))
        for part in name.split("/"):
            found += checks.each(names.dns_subdomain(part), where, part)
    count, generation = pool.get("resourceSliceCount") or 0, pool.get("generation") or 0
    if count <= 0:
        found.append(invalid("spec.pool.resourceSliceCount", count, "must be greater than zero"))
    if generation < 0:
        text = "must be greater than or equal to zero"
        found.append(invalid("spec.pool.generation", generation, text))
    return found


def _places(
    tree: Tree, field: str, *, flags: tuple[str, ...], empty: str
) -> tuple[list[str], list[Violation]]:
    """Return which ways of naming nodes are used, and what is wrong with them."""
    used: list[str] = []
    found: list[Violation] = []
    node, selector = tree.get("nodeName"), tree.get("nodeSelector")
    if node:
        used.append("`nodeName`")
        found += checks.each(names.dns_subdomain(node), f"{field}.nodeName", node)
    elif node is not None:
        found.append(invalid(f"{field}.nodeName", node, empty))
    if selector is not None:
        used.append("`nodeSelector`")
        found += validate_node_selector(selector, f"{field}.nodeSelector")
    for flag in flags:
        if tree.get(flag):
            used.append(f"`{flag}`")
        elif tree.get(flag) is not None:
            text = "must be either unset or set to true"
            found.append(invalid(f"{field}.{flag}", tree[flag], text))
    return used, found


def _slice_places(spec: Tree) -> list[Violation]:
    used, found = _places(
        spec,
        "spec",
        flags=("allNodes", "perDeviceNodeSelection"),
        empty="must be either unset or set to a non-empty string",
    )
    terms = dig(spec, "nodeSelector", "nodeSelectorTerms")
    if spec.get("nodeSelector") is not None and len(terms or ()) != 1:
        where = "spec.nodeSelector.nodeSelectorTerms"
        text = "must have exactly one node selector term"
        found.append(invalid(where, checks.go_value(terms), text))
    if not used:
        found.append(required("spec", f"{_PLACES} is required"))
    elif len(used) > 1:
        text = f"{_PLACES} is required, but multiple fields are set"
        found.append(invalid("spec", f"{{{', '.join(used)}}}", text))
    return found


def _attribute(attribute: Tree, field: str) -> list[Violation]:
    found: list[Violation] = []
    for key in ("string", "version"):
        listed = attribute.get(f"{key}s") or []
        given = [(f"{field}.{key}", attribute.get(key))]
        given += [(f"{field}.{key}s[{index}]", value) for index, value in enumerate(listed)]
        for where, value in given:
            if value is None:
                continue
            if len(value) > _LONGEST_TEXT:
                found.append(too_long(where, _LONGEST_TEXT))
            if key == "version" and not _SEMVER.fullmatch(value):
                text = "must be a string compatible with semver.org spec 2.0.0"
                found.append(invalid(where, value, text))
    used = [key for key in _VALUES if attribute.get(key) is not None]
    if len(used) != 1:
        shown = checks.go_value({f"{key}Value": attribute[key] for key in used}) if used else ""
        found.append(invalid(field, shown, "exactly one value must be specified"))
    return found


def _taint(taint: Tree, field: str) -> list[Violation]:
    key, value, effect = (taint.get(part) or "" for part in ("key", "value", "effect"))
    found = checks.each(names.label_key(key), f"{field}.key", key)
    if value:
        found += checks.each(names.label_value(value), f"{field}.value", value)
    return found + checks.one_of_needed(effect, f"{field}.effect", TAINT_EFFECTS)


def _device_places(device: Tree, field: str, *, chosen: bool) -> list[Violation]:
    if not chosen:
        used = [k for k in ("nodeName", "nodeSelector", "allNodes") if device.get(k) is not None]
        return [invalid(field, None, _NO_DEVICE_PLACES)] if used else []
    named, found = _places(device, field, flags=("allNodes",), empty="must not be empty")
    if not named:
        found.append(required(field, _DEVICE_PLACES))
    elif len(named) > 1:
        found.append(invalid(field, f"{{{', '.join(named)}}}", _DEVICE_PLACES))
    return found


def _device(device: Tree, field: str, *, chosen: bool) -> list[Violation]:
    attributes, capacity = device.get("attributes") or {}, device.get("capacity") or {}
    found = checks.named(device.get("name"), f"{field}.name", names.dns_label)
    facts = len(attributes) + len(capacity)
    if facts > _MOST_FACTS:
        text = f"the total number of attributes and capacities must not exceed {_MOST_FACTS}"
        found.append(invalid(field, facts, text))
    for name in sorted(attributes):
        found += validate_attribute_name(name, f"{field}.attributes")
        found += _attribute(attributes[name], f"{field}.attributes[{name}]")
    for name in sorted(capacity):
        found += validate_attribute_name(name, f"{field}.capacity")
    taints = device.get("taints") or []
    found += each_of(taints, f"{field}.taints", _taint, _MOST_TAINTS, None)
    return found + _device_places(device, field, chosen=chosen)


def _has_features(spec: Tree) -> bool:
    """Say whether devices carry what makes them dear to judge; then fewer are allowed."""
    lists = {"ints", "bools", "strings", "versions"}
    return any(
        device.get("taints")
        or device.get("consumesCounters")
        or any(lists & set(attribute) for attribute in (device.get("attributes") or {}).values())
        for device in spec.get("devices") or ()
    )


def _validate_spec(spec: Tree, before: Tree | None) -> list[Violation]:
    found = validate_driver(spec.get("driver") or "", "spec.driver")
    found += _pool(spec.get("pool") or {})
    if before is not None:
        found += checks.immutable(
            dig(spec, "pool", "name"), dig(before, "pool", "name"), "spec.pool.name"
        )
        for key in ("driver", "nodeName"):
            found += checks.immutable(spec.get(key), before.get(key), f"spec.{key}")
    found += _slice_places(spec)
    devices, counters = spec.get("devices") or [], spec.get("sharedCounters") or []
    if counters and devices:
        text = "only one of `sharedCounters` or `devices` is allowed"
        found.append(invalid("spec", "", text))
    chosen = bool(spec.get("perDeviceNodeSelection"))
    limit = _MOST_FEATURED_DEVICES if _has_features(spec) else _MOST_DEVICES

    def judge(device: Tree, field: str) -> list[Violation]:
        return _device(device, field, chosen=chosen)

    def judge_counters(counter: Tree, field: str) -> list[Violation]:
        wrong = checks.named(counter.get("name"), f"{field}.name", names.dns_label)
        return wrong if counter.get("counters") else [*wrong, required(f"{field}.counters")]

    found += each_of(devices, "spec.devices", judge, limit, lambda device: device.get("name"))
    return found + each_of(
        counters,
        "spec.sharedCounters",
        judge_counters,
        _MOST_COUNTER_SETS,
        lambda counter: counter.get("name"),
    )


def _validate(tree: Tree) -> list[Violation]:
    return _validate_spec(tree.get("spec") or {}, None)


def _validate_update(new: Tree, old: Tree) -> list[Violation]:
    return _validate_spec(new.get("spec") or {}, old.get("spec") or {})


def _warnings(new: Tree, _: Tree | None) -> list[str]:
    driver = dig(new, "spec", "driver") or ""
    if driver == driver.lower():
        return []
    text = f'driver names should be lowercase; "{driver}" contains uppercase characters'
    return [f"spec.driver: {text}"]


def _selectable(tree: Tree) -> dict[str, str]:
    spec = tree.get("spec") or {}
    return {
        "spec.nodeName": spec.get("nodeName") or "",
        "spec.driver": spec.get("driver") or "",
    }


def _cells(tree: Tree, now: float) -> list[Any]:
    spec = tree.get("spec") or {}
    return [
        checks.name_cell(tree),
        spec.get("nodeName") or "",
        spec.get("driver") or "",
        dig(spec, "pool", "name") or "",
        checks.age_cell(tree, now),
    ]


RULES: Final = Rules(
    validate_create=_validate,
    validate_update=_validate_update,
    warnings=_warnings,
    selectable=_selectable,
    cells=_cells,
)
DECLARATIONS: Final = {
    "resourceslices.resource.k8s.io": Declared(
        generation="spec",
        delete_answer="object",
        field_labels=frozenset({"spec.driver", "spec.nodeName"}),
        unknown_field_label=(
            "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {label}"
        ),
        rules=RULES,
    )
}

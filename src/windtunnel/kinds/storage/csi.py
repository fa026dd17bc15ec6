"""CSI drivers, the nodes they run on, and how much they could still provide.

Source: storage.k8s.io/v1 of v1.36.3.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.rules import checks
from windtunnel.kinds.rules.checks import IMMUTABLE
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Context, Rules
from windtunnel.machinery import names, quantity
from windtunnel.machinery.selectors import validate_label_selector
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    duplicate,
    invalid,
    not_supported,
    required,
    too_long,
)

_LONGEST_NODE_ID: Final = 256
_LONGEST_DRIVER: Final = 63
_SHORTEST_TOKEN_SECONDS: Final = 600
_LONGEST_TOKEN_SECONDS: Final = 1 << 32
_SHORTEST_PERIOD: Final = 10
_TOKEN_WARNING: Final = (
    "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to"
    " prevent possible logging of tokens in volume attributes"
)


def validate_driver_name(name: str, field: str) -> list[Violation]:
    """Judge the name of a CSI driver where it is referred to."""
    if not name:
        return [required(field)]
    found = [too_long(field, _LONGEST_DRIVER)] if len(name) > _LONGEST_DRIVER else []
    lower = name.lower()
    return found + checks.each(names.dns_subdomain(lower), field, name)


def _validate_node_driver(driver: Tree, field: str, seen: set[str]) -> list[Violation]:
    name, node = driver.get("name") or "", driver.get("nodeID") or ""
    found = validate_driver_name(name, f"{field}.name")
    if not node:
        found.append(required(f"{field}.nodeID"))
    if len(node) > _LONGEST_NODE_ID:
        text = f"must be {_LONGEST_NODE_ID} characters or less"
        found.append(invalid(f"{field}.nodeID", node, text))
    found += checks.not_negative(dig(driver, "allocatable", "count"), f"{field}.allocatable.count")
    if name in seen:
        found.append(duplicate(f"{field}.name", name))
    seen.add(name)
    keys: set[str] = set()
    for key in driver.get("topologyKeys") or ():
        if not key:
            found.append(required(field))
        if key in keys:
            found.append(duplicate(field, key))
        keys.add(key)
        found += checks.each(names.label_key(key), field, key)
    return found


def _validate_node(tree: Tree) -> list[Violation]:
    seen: set[str] = set()
    found: list[Violation] = []
    for index, driver in enumerate(dig(tree, "spec", "drivers") or ()):
        found += _validate_node_driver(driver, f"spec.drivers[{index}]", seen)
    return found


def _validate_node_update(new: Tree, old: Tree) -> list[Violation]:
    found = _validate_node(new)
    current = {driver.get("name"): driver for driver in dig(new, "spec", "drivers") or ()}
    for before in dig(old, "spec", "drivers") or ():
        now = current.get(before.get("name"))
        if now is not None and _fixed(now) != _fixed(before):
            shown = checks.go_value({**_fixed(now), "allocatable": None})
            found.append(invalid("spec.drivers", shown, IMMUTABLE))
    return found


def _fixed(driver: Tree) -> Tree:
    """Return what of a driver never changes: all but how much it may still attach."""
    return {key: value for key, value in driver.items() if key != "allocatable"}


def _node_cells(tree: Tree, now: float) -> list[Any]:
    drivers = dig(tree, "spec", "drivers") or []
    return [checks.name_cell(tree), len(drivers), checks.age_cell(tree, now)]


def _default_driver(tree: Tree) -> None:
    spec = tree.setdefault("spec", {})
    for key, value in (
        ("attachRequired", True),
        ("podInfoOnMount", False),
        ("storageCapacity", False),
        ("fsGroupPolicy", "ReadWriteOnceWithFSType"),
        ("requiresRepublish", False),
        ("seLinuxMount", False),
    ):
        if spec.get(key) is None:
            spec[key] = value
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]


def _prepare_driver_update(new: Tree, old: Tree, _: Context) -> None:
    # A driver has no generation until its spec changes for the first time.
    if new.get("spec") != old.get("spec"):
        before = dig(old, "metadata", "generation") or 0
        new["metadata"]["generation"] = before + 1


def _validate_driver_spec(spec: Tree) -> list[Violation]:
    policies = ["File", "None", "ReadWriteOnceWithFSType"]
    found = checks.one_of(spec.get("fsGroupPolicy"), "spec.fsGroupPolicy", policies)
    audiences: set[str] = set()
    for index, request in enumerate(spec.get("tokenRequests") or ()):
        where, audience = f"spec.tokenRequests[{index}]", request.get("audience") or ""
        if audience in audiences:
            found.append(duplicate(f"{where}.audience", audience))
            continue
        audiences.add(audience)
        seconds = request.get("expirationSeconds")
        if seconds is not None and seconds < _SHORTEST_TOKEN_SECONDS:
            text = "may not specify a duration less than 10 minutes"
            found.append(invalid(f"{where}.expirationSeconds", seconds, text))
        if seconds is not None and seconds > _LONGEST_TOKEN_SECONDS:
            text = "may not specify a duration larger than 2^32 seconds"
            found.append(invalid(f"{where}.expirationSeconds", seconds, text))
    modes = ["Persistent", "Ephemeral"]
    for mode in spec.get("volumeLifecycleModes") or ():
        if mode not in modes:
            found.append(not_supported("spec.volumeLifecycleModes", mode, modes))
    period = spec.get("nodeAllocatableUpdatePeriodSeconds")
    if period is not None and period < _SHORTEST_PERIOD:
        text = f"must be greater than or equal to {_SHORTEST_PERIOD} seconds"
        found.append(invalid("spec.nodeAllocatableUpdatePeriodSeconds", period, text))
    hidden = spec.get("serviceAccountTokenInSecrets")
    if hidden is not None and not spec.get("tokenRequests"):
        text = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
        found.append(invalid("spec.serviceAccountTokenInSecrets", hidden, text))
    return found


def _validate_driver(tree: Tree) -> list[Violation]:
    return _validate_driver_spec(tree.get("spec") or {})


def _validate_driver_update(new: Tree, old: Tree) -> list[Violation]:
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    found = _validate_driver_spec(spec)
    # The real server misspells this field.
    found += checks.immutable(
        spec.get("attachRequired"), before.get("attachRequired"), "spec.attachedRequired"
    )
    modes, modes_before = spec.get("volumeLifecycleModes"), before.get("volumeLifecycleModes")
    return found + checks.immutable(modes, modes_before, "spec.volumeLifecycleModes")


def _driver_warnings(new: Tree, old: Tree | None) -> list[str]:
    spec = new.get("spec") or {}
    requests = spec.get("tokenRequests") or []
    if not requests or spec.get("serviceAccountTokenInSecrets") is not None:
        return []
    if old is not None and dig(old, "spec", "tokenRequests") == requests:
        return []
    return [_TOKEN_WARNING]


def _driver_cells(tree: Tree, now: float) -> list[Any]:
    spec = tree.get("spec") or {}
    requests = spec.get("tokenRequests")
    tokens = "<unset>"
    if requests is not None:
        tokens = ",".join(request.get("audience") or "" for request in requests)
    return [
        checks.name_cell(tree),
        spec.get("attachRequired", True),
        spec.get("podInfoOnMount", False),
        spec.get("storageCapacity", False),
        tokens,
        spec.get("requiresRepublish", False),
        ",".join(spec.get("volumeLifecycleModes") or ()) or "<none>",
        checks.age_cell(tree, now),
    ]


def _validate_capacity(tree: Tree) -> list[Violation]:
    found = validate_label_selector(tree.get("nodeTopology"), "nodeTopology")
    name, amount = tree.get("storageClassName") or "", tree.get("capacity")
    found += checks.each(names.dns_subdomain(name), "storageClassName", name)
    if amount is not None and quantity.parse(amount).nanos < 0:
        found.append(invalid("capacity", quantity.canonical(amount), checks.NOT_NEGATIVE))
    return found


def _validate_capacity_update(new: Tree, old: Tree) -> list[Violation]:
    return [
        found
        for key in ("nodeTopology", "storageClassName")
        for found in checks.immutable(new.get(key), old.get(key), key)
    ]


NODE: Final = Rules(
    validate_create=_validate_node,
    validate_update=_validate_node_update,
    cells=_node_cells,
)
DRIVER: Final = Rules(
    default=_default_driver,
    prepare_update=_prepare_driver_update,
    validate_create=_validate_driver,
    validate_update=_validate_driver_update,
    warnings=_driver_warnings,
    cells=_driver_cells,
)
CAPACITY: Final = Rules(
    validate_create=_validate_capacity,
    validate_update=_validate_capacity_update,
    cells=checks.name_and_stamp,
)
DECLARATIONS: Final = {
    "csinodes.storage.k8s.io": Declared(
        needs_revision_on_put=True, delete_answer="object", rules=NODE
    ),
    "csidrivers.storage.k8s.io": Declared(
        needs_revision_on_put=True, delete_answer="object", rules=DRIVER
    ),
    "csistoragecapacities.storage.k8s.io": Declared(needs_revision_on_put=True, rules=CAPACITY),
}

"""Resource claims, their templates, and device classes.

Source: resource.k8s.io/v1 of v1.36.3.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.rules import checks
from windtunnel.kinds.rules.device_requests import (
    default_devices,
    each_of,
    validate_configuration,
    validate_devices,
    validate_selectors,
)
from windtunnel.kinds.rules.metadata import validate_template_metadata
from windtunnel.kinds.rules.resource_names import is_extended
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import Violation, forbidden, invalid, required

_MOST_CONSUMERS: Final = 256
_MOST_CONFIGURATIONS: Final = 32
_NO_NEW_CONSUMERS: Final = (
    "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
)


def _default_claim(tree: Tree) -> None:
    default_devices(dig(tree, "spec", "devices"))


def _validate_claim(tree: Tree) -> list[Violation]:
    return validate_devices(dig(tree, "spec", "devices") or {}, "spec.devices")


def _validate_fixed_spec(new: Tree, old: Tree) -> list[Violation]:
    spec = new.get("spec")
    return checks.immutable(spec, old.get("spec"), "spec", checks.go_value(spec))


def _consumer(consumer: Tree, field: str) -> list[Violation]:
    needed = ("resource", "name", "uid")
    return [required(f"{field}.{key}") for key in needed if not consumer.get(key)]


def _validate_claim_status(new: Tree, old: Tree) -> list[Violation]:
    status, before = new.get("status") or {}, old.get("status") or {}
    consumers, where = status.get("reservedFor") or [], "status.reservedFor"
    found = each_of(
        consumers, where, _consumer, _MOST_CONSUMERS, lambda consumer: consumer.get("uid")
    )
    allocation, allocated = status.get("allocation"), before.get("allocation")
    if consumers and allocation is None:
        text = "may not be specified when `allocated` is not set"
        found.append(forbidden(where, text))
    elif consumers and dig(new, "metadata", "deletionTimestamp"):
        known = before.get("reservedFor") or []
        if any(consumer not in known for consumer in consumers):
            found.append(forbidden(where, _NO_NEW_CONSUMERS))
    if allocation is not None and allocated is not None:
        shown = checks.go_value(allocation)
        found += checks.immutable(allocation, allocated, "status.allocation", shown)
    return found


def _state_cell(tree: Tree) -> str:
    going = dig(tree, "metadata", "deletionTimestamp") is not None
    states = ["deleted"] if going else []
    if dig(tree, "status", "allocation") is not None:
        states.append("allocated")
        if dig(tree, "status", "reservedFor"):
            states.append("reserved")
    elif not going:
        states.append("pending")
    return ",".join(states)


def _claim_cells(tree: Tree, now: float) -> list[Any]:
    return [checks.name_cell(tree), _state_cell(tree), checks.age_cell(tree, now)]


def _default_template(tree: Tree) -> None:
    default_devices(dig(tree, "spec", "spec", "devices"))


def _validate_template(tree: Tree) -> list[Violation]:
    metadata = dig(tree, "spec", "metadata") or {}
    found = validate_template_metadata(metadata, "spec.metadata")
    devices = dig(tree, "spec", "spec", "devices") or {}
    return found + validate_devices(devices, "spec.spec.devices")


def _validate_class(tree: Tree) -> list[Violation]:
    spec = tree.get("spec") or {}
    found = validate_selectors(spec.get("selectors"), "spec.selectors")
    found += each_of(
        spec.get("config") or [],
        "spec.config",
        validate_configuration,
        _MOST_CONFIGURATIONS,
        None,
    )
    name = spec.get("extendedResourceName")
    if name is not None and not is_extended(name):
        text = "must be a valid extended resource name"
        found.append(invalid("spec.extendedResourceName", name, text))
    return found


CLAIM: Final = Rules(
    default=_default_claim,
    prepare_create=checks.without_status(),
    prepare_update=checks.keep_status,
    validate_create=_validate_claim,
    validate_update=_validate_fixed_spec,
    validate_status=_validate_claim_status,
    cells=_claim_cells,
)
TEMPLATE: Final = Rules(
    default=_default_template,
    validate_create=_validate_template,
    validate_update=_validate_fixed_spec,
    cells=checks.name_and_age,
)
DEVICE_CLASS: Final = Rules(
    validate_create=_validate_class,
    validate_update=lambda new, _: _validate_class(new),
    cells=checks.name_and_age,
)
DECLARATIONS: Final = {
    "resourceclaims.resource.k8s.io": Declared(delete_answer="object", rules=CLAIM),
    "resourceclaimtemplates.resource.k8s.io": Declared(delete_answer="object", rules=TEMPLATE),
    "deviceclasses.resource.k8s.io": Declared(
        generation="spec", delete_answer="object", rules=DEVICE_CLASS
    ),
}

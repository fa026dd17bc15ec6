"""Claims for volumes: what somebody wants to store."""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.pod.spec_defaults import default_claim_spec, default_resource_list
from windtunnel.kinds.pod.update import changes
from windtunnel.kinds.pod.warnings import claim_warnings
from windtunnel.kinds.rules.checks import age_cell, immutable, name_cell, restore
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Context, Rules
from windtunnel.kinds.storage.claim_spec import validate_claim_spec
from windtunnel.kinds.storage.persistentvolumes import STORAGE_CLASS, short_modes, storage_class
from windtunnel.machinery.quantity import canonical, parse
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import Violation, forbidden, invalid, required

_SIZE: Final = "spec.resources.requests.storage"
_ATTRIBUTES: Final = "volumeAttributesClassName"
_SPEC_FROZEN: Final = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName"
    " for bound claims"
)


def _default(claim: Tree) -> None:
    claim.setdefault("status", {}).setdefault("phase", "Pending")
    default_claim_spec(claim.setdefault("spec", {}))
    default_resource_list(dig(claim, "status", "capacity"))


def _prepare_create(claim: Tree, _: Context) -> None:
    claim["status"] = {"phase": "Pending"}
    spec = claim.setdefault("spec", {})
    source = spec.get("dataSource")
    if "dataSourceRef" not in spec and source is not None and not _is_volume_source(source):
        del spec["dataSource"]
    _join_sources(spec)


def _is_volume_source(source: Tree) -> bool:
    group, kind = source.get("apiGroup") or "", source.get("kind", "")
    claim = kind == "PersistentVolumeClaim" and not group
    return claim or (kind == "VolumeSnapshot" and group == "snapshot.storage.k8s.io")


def _join_sources(spec: Tree) -> None:
    """Keep the two ways of naming a source alike."""
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None and reference is None:
        spec["dataSourceRef"] = dict(source)
    elif reference is not None and source is None and not reference.get("namespace"):
        spec["dataSource"] = {key: value for key, value in reference.items() if key != "namespace"}


def _prepare_update(new: Tree, old: Tree, _: Context) -> None:
    restore(new, old, "status")
    _join_sources(new.setdefault("spec", {}))


def _validate(claim: Tree) -> list[Violation]:
    return validate_claim_spec(claim.get("spec") or {}, "spec")


def _validate_update(new: Tree, old: Tree) -> list[Violation]:
    found = _validate(new)
    ours, theirs = dict(new.get("spec") or {}), dict(old.get("spec") or {})
    bound = dig(new, "status", "phase") == "Bound"
    if not theirs.get("volumeName"):
        theirs["volumeName"] = ours.get("volumeName")
    theirs["volumeName"] = theirs.get("volumeName") or ""
    ours["volumeName"] = ours.get("volumeName") or ""
    found += _class_change(new, old, ours, theirs)
    if bound:
        resources = dict(ours.get("resources") or {})
        size = dig(old, "spec", "resources", "requests", "storage")
        resources["requests"] = {**(resources.get("requests") or {}), "storage": size}
        ours["resources"] = resources
        restore(ours, theirs, _ATTRIBUTES)
    if ours != theirs:
        lines = "\n".join(changes(theirs, ours))
        found.append(forbidden("spec", f"{_SPEC_FROZEN}\n{lines}"))
    size_before = parse(dig(old, "spec", "resources", "requests", "storage") or "0")
    size_now = parse(dig(new, "spec", "resources", "requests", "storage") or "0")
    given = parse(dig(old, "status", "capacity", "storage") or "0")
    if size_now < size_before and size_now <= given:
        found.append(forbidden(_SIZE, "field can not be less than status.capacity"))
    before, now = dig(old, "spec", "volumeMode"), dig(new, "spec", "volumeMode")
    found += immutable(now, before, "volumeMode")
    return found + _attributes_change(new, old)


def _class_change(new: Tree, old: Tree, ours: Tree, theirs: Tree) -> list[Violation]:
    """Judge a change of storage class, which may move from the annotation to the field once."""
    annotation = (dig(old, "metadata", "annotations") or {}).get(STORAGE_CLASS)
    now = (dig(new, "metadata", "annotations") or {}).get(STORAGE_CLASS)
    field = "storageClassName"
    moved = ours.get(field) is not None and theirs.get(field) is None
    if moved and annotation is not None:
        if ours[field] == annotation and now in (None, annotation):
            del ours[field]
            return []
    elif moved:
        theirs[field] = ours[field]
    if (now or "") != (annotation or ""):
        where = f"metadata.annotations.{STORAGE_CLASS}"
        return [invalid(where, now or "", "field is immutable")]
    return []


def _attributes_change(new: Tree, old: Tree) -> list[Violation]:
    ours, theirs = dig(new, "spec", _ATTRIBUTES), dig(old, "spec", _ATTRIBUTES)
    current = dig(old, "status", "currentVolumeAttributesClassName")
    if ours == theirs or current is None or ours:
        return []
    what = "nil" if ours is None else "empty string"
    text = f"update to {what} is forbidden when status.currentVolumeAttributesClassName"
    return [forbidden(f"spec.{_ATTRIBUTES}", f"{text} is not nil")]


def _validate_status(new: Tree, _: Tree) -> list[Violation]:
    found: list[Violation] = []
    if not dig(new, "spec", "accessModes"):
        found.append(required("Spec.accessModes"))
    for name, value in (dig(new, "status", "capacity") or {}).items():
        units = parse(value).units
        if units < 0:
            text = "must be a valid resource quantity"
            found.append(invalid(f"status.capacity[{name}]", units, text))
    return found


def _warnings(new: Tree, old: Tree | None) -> list[str]:
    found: list[str] = []
    if STORAGE_CLASS in (dig(new, "metadata", "annotations") or {}):
        text = 'deprecated since v1.8; use "storageClassName" attribute instead'
        found.append(f"metadata.annotations[{STORAGE_CLASS}]: {text}")
    return found + claim_warnings(new.get("spec") or {}, "spec")


def _cells(claim: Tree, now: float) -> list[Any]:
    spec, status = claim.get("spec") or {}, claim.get("status") or {}
    volume = spec.get("volumeName") or ""
    deleting = dig(claim, "metadata", "deletionTimestamp")
    return [
        name_cell(claim),
        "Terminating" if deleting else status.get("phase", ""),
        volume,
        canonical(dig(status, "capacity", "storage") or "0") if volume else "",
        short_modes(status.get("accessModes")) if volume else "",
        storage_class(claim),
        spec.get(_ATTRIBUTES) or "<unset>",
        age_cell(claim, now),
        spec.get("volumeMode") or "<unset>",
    ]


DECLARATIONS: Final = {
    "persistentvolumeclaims": Declared(
        delete_answer="object",
        metadata_judged=(1, 1),
        rules=Rules(
            default=_default,
            prepare_create=_prepare_create,
            prepare_update=_prepare_update,
            validate_create=_validate,
            validate_update=_validate_update,
            validate_status=_validate_status,
            warnings=_warnings,
            cells=_cells,
        ),
    )
}

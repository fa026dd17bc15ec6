"""Persistent volumes: storage that outlives pods."""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.pod.scheduling import validate_node_selector
from windtunnel.kinds.pod.spec_defaults import default_resource_list
from windtunnel.kinds.pod.update import changes
from windtunnel.kinds.pod.warnings import node_term_warnings
from windtunnel.kinds.rules.checks import age_cell, each, go_value, name_cell, restore
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Context, Rules
from windtunnel.kinds.storage.claim_spec import VOLUME_MODES, access_modes, positive
from windtunnel.kinds.storage.volume_sources import (
    ISCSI_TOO_LONG,
    STORAGE_OF_VOLUMES,
    iscsi_name_is_long,
    one_source,
)
from windtunnel.machinery import names
from windtunnel.machinery.quantity import canonical, parse
from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    forbidden,
    invalid,
    not_supported,
    required,
)

MOUNT_OPTIONS: Final = "volume.beta.kubernetes.io/mount-options"
STORAGE_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
RECLAIM_POLICIES: Final = ["Delete", "Recycle", "Retain"]
_SHORT_MODES: Final = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}
_WITH_MOUNT_OPTIONS: Final = frozenset({
    "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "nfs", "rbd", "quobyte", "iscsi",
    "cinder", "cephfs", "azureFile", "vsphereVolume", "azureDisk", "photonPersistentDisk",
})  # fmt: skip
_DEPRECATED: Final = {
    "cephfs": ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    "photonPersistentDisk": (
        "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+",
    ),
    "scaleIO": ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    "storageos": ("storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    "glusterfs": ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    "rbd": ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
}  # fmt: skip
_RENAMED_LABELS: Final = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/os": "kubernetes.io/os",
}
_SOURCES: Final = frozenset(source[0] for source in STORAGE_OF_VOLUMES)


def short_modes(modes: Any) -> str:
    """Print ways of access as tables do: ``RWO,ROX``."""
    return ",".join(short for mode, short in _SHORT_MODES.items() if mode in (modes or ()))


def storage_class(tree: Tree) -> str:
    """Return the class that an object names, by annotation or field."""
    annotations = dig(tree, "metadata", "annotations") or {}
    if STORAGE_CLASS in annotations:
        return str(annotations[STORAGE_CLASS])
    return dig(tree, "spec", "storageClassName") or ""


def _default(volume: Tree) -> None:
    volume.setdefault("status", {}).setdefault("phase", "Pending")
    spec = volume.setdefault("spec", {})
    spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
    spec.setdefault("volumeMode", "Filesystem")
    default_resource_list(spec.get("capacity"))
    if (path := spec.get("hostPath")) is not None:
        path.setdefault("type", "")
    if (rbd := spec.get("rbd")) is not None:
        rbd.setdefault("pool", "rbd")
        rbd.setdefault("user", "admin")
        rbd.setdefault("keyring", "/etc/ceph/keyring")
    if (iscsi := spec.get("iscsi")) is not None:
        iscsi.setdefault("iscsiInterface", "default")
    if (scale := spec.get("scaleIO")) is not None:
        scale.setdefault("storageMode", "ThinProvisioned")
        scale.setdefault("fsType", "xfs")


def _prepare_create(volume: Tree, context: Context) -> None:
    stamp = time_text(context.now)
    volume["status"] = {"phase": "Pending", "lastPhaseTransitionTime": stamp}


def _prepare_update(new: Tree, old: Tree, _: Context) -> None:
    restore(new, old, "status")


def _prepare_status(new: Tree, old: Tree, context: Context) -> None:
    status, before = new.setdefault("status", {}), old.get("status") or {}
    key = "lastPhaseTransitionTime"
    if status.get("phase") == before.get("phase"):
        if key not in status and key in before:
            status[key] = before[key]
    elif status.get(key) in (None, before.get(key)):
        status[key] = time_text(context.now)


def _capacity(spec: Tree) -> list[Violation]:
    capacity = spec.get("capacity") or {}
    field = "spec.capacity"
    found = [] if capacity else [required(field)]
    if "storage" not in capacity or len(capacity) > 1:
        found.append(not_supported(field, dict(sorted(capacity.items())) or None, ["storage"]))
    for name, value in capacity.items():
        units = parse(value).units
        if units < 0:
            text = "must be a valid resource quantity"
            found.append(invalid(f"{field}[{name}]", units, text))
        found += positive(value, f"{field}[{name}]")
    return found


def _node_affinity(spec: Tree) -> list[Violation]:
    affinity = spec.get("nodeAffinity")
    if affinity is None:
        return []
    needed = affinity.get("required")
    if needed is None:
        text = "must specify required node constraints"
        return [required("spec.nodeAffinity.required", text)]
    return validate_node_selector(needed, "spec.nodeAffinity.required")


def _validate_create(volume: Tree) -> list[Violation]:
    return _validate(volume) + _mount_options(volume, volume.get("spec") or {})


def _validate(volume: Tree) -> list[Violation]:
    spec, name = volume.get("spec") or {}, dig(volume, "metadata", "name") or ""
    found: list[Violation] = []
    if not spec.get("accessModes"):
        found.append(required("spec.accessModes"))
    found += access_modes(spec.get("accessModes"), "spec.accessModes")
    found += _capacity(spec)
    policy = spec.get("persistentVolumeReclaimPolicy", "")
    where = "spec.persistentVolumeReclaimPolicy"
    if policy and policy not in RECLAIM_POLICIES:
        found.append(not_supported(where, policy, RECLAIM_POLICIES))
    found += _node_affinity(spec)
    found += one_source(spec, "spec", STORAGE_OF_VOLUMES)
    if iscsi_name_is_long(spec, name):
        portal = spec["iscsi"].get("targetPortal", "")
        found.append(invalid("spec.iscsi.targetportal", portal, ISCSI_TOO_LONG))
    if spec.get("local") is not None and spec.get("nodeAffinity") is None:
        text = "Local volume requires node affinity"
        found.append(required("spec.nodeAffinity", text))
    path = dig(spec, "hostPath", "path")
    if policy == "Recycle" and path is not None and not path.strip("/."):
        text = "may not be 'recycle' for a hostPath mount of '/'"
        found.append(forbidden(where, text))
    return found + _classes(spec)


def _classes(spec: Tree) -> list[Violation]:
    found: list[Violation] = []
    if name := spec.get("storageClassName"):
        found += each(names.dns_subdomain(name), "spec.storageClassName", name)
    mode = spec.get("volumeMode")
    if mode is not None and mode not in VOLUME_MODES:
        found.append(not_supported("spec.volumeMode", mode, VOLUME_MODES))
    attributes = spec.get("volumeAttributesClassName")
    if attributes is None:
        return found
    where = "spec.volumeAttributesClassName"
    if not attributes:
        found.append(required(where, "an empty string is disallowed"))
    else:
        found += each(names.dns_subdomain(attributes), where, attributes)
    if spec.get("csi") is None:
        text = "has to be specified when using volumeAttributesClassName"
        found.append(required("spec.csi", text))
    return found


def _mount_options(volume: Tree, spec: Tree) -> list[Violation]:
    annotations = dig(volume, "metadata", "annotations") or {}
    if MOUNT_OPTIONS not in annotations or spec.keys() & _WITH_MOUNT_OPTIONS:
        return []
    text = "may not specify mount options for this volume type"
    return [forbidden(f"metadata.annotations.{MOUNT_OPTIONS}", text)]


def _validate_update(new: Tree, old: Tree) -> list[Violation]:
    # The real server judges the whole object twice, so that each mistake is two causes.
    found = _validate_create(new) + _validate(new)
    ours, theirs = new.get("spec") or {}, old.get("spec") or {}
    mine = {key: ours[key] for key in _SOURCES if key in ours}
    before = {key: theirs[key] for key in _SOURCES if key in theirs}
    expand = "controllerExpandSecretRef"
    if "csi" in before and expand not in before["csi"] and "csi" in mine:
        kept = {key: value for key, value in mine["csi"].items() if key != expand}
        mine["csi"] = kept
    if mine != before:
        lines = "\n".join(changes(before, mine))
        text = f"spec.persistentvolumesource is immutable after creation\n{lines}"
        found.append(forbidden("spec.persistentvolumesource", text))
    if ours.get("volumeMode") != theirs.get("volumeMode"):
        found.append(invalid("volumeMode", ours.get("volumeMode"), "field is immutable"))
    affinity = theirs.get("nodeAffinity")
    if affinity is not None and not _same_affinity(ours.get("nodeAffinity"), affinity):
        text = "field is immutable, except for updating from beta label to GA"
        found.append(invalid("nodeAffinity", go_value(ours.get("nodeAffinity")), text))
    key = "volumeAttributesClassName"
    if theirs.get(key) is not None and ours.get(key) is None:
        text = "update from non-nil value to nil is forbidden"
        found.append(forbidden(f"spec.{key}", text))
    return found


def _same_affinity(new: Tree | None, old: Tree) -> bool:
    """Judge whether nothing but the names of old labels has changed."""
    if new is None:
        return False
    terms = dig(new, "required", "nodeSelectorTerms") or []
    before = dig(old, "required", "nodeSelectorTerms") or []
    return len(terms) == len(before) and all(map(_same_term, terms, before))


def _same_term(new: Tree, old: Tree) -> bool:
    key = "matchExpressions"
    expressions, before = new.get(key) or [], old.get(key) or []
    if new.get("matchFields") != old.get("matchFields") or len(expressions) != len(before):
        return False
    for mine, theirs in zip(expressions, before, strict=True):
        renamed = {**theirs, "key": _RENAMED_LABELS.get(theirs.get("key", ""), "")}
        if mine not in (theirs, renamed):
            return False
    return True


def _warnings(new: Tree, old: Tree | None) -> list[str]:
    spec = new.get("spec") or {}
    found: list[str] = []
    for key, text in (
        (STORAGE_CLASS, 'deprecated since v1.8; use "storageClassName" attribute instead'),
        (MOUNT_OPTIONS, 'deprecated since v1.31; use "mountOptions" attribute instead'),
    ):
        if key in (dig(new, "metadata", "annotations") or {}):
            found.append(f"metadata.annotations[{key}]: {text}")
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        found.append(
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated."
            " Instead, the recommended approach is to use dynamic provisioning."
        )
    terms = dig(spec, "nodeAffinity", "required", "nodeSelectorTerms") or ()
    for index, term in enumerate(terms):
        where = f"spec.nodeAffinity.required.nodeSelectorTerms[{index}]"
        found += node_term_warnings(term, where)
    found += [f"spec.{said}: {text}" for key, (said, text) in _DEPRECATED.items() if key in spec]
    return found


def _cells(volume: Tree, now: float) -> list[Any]:
    spec, status = volume.get("spec") or {}, volume.get("status") or {}
    claim = spec.get("claimRef")
    deleting = dig(volume, "metadata", "deletionTimestamp")
    return [
        name_cell(volume),
        canonical(dig(spec, "capacity", "storage") or "0"),
        short_modes(spec.get("accessModes")),
        spec.get("persistentVolumeReclaimPolicy", ""),
        "Terminating" if deleting else status.get("phase", ""),
        f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else "",
        storage_class(volume),
        spec.get("volumeAttributesClassName") or "<unset>",
        status.get("reason", ""),
        age_cell(volume, now),
        spec.get("volumeMode") or "<unset>",
    ]


DECLARATIONS: Final = {
    "persistentvolumes": Declared(
        delete_answer="object",
        metadata_judged=(0, 2),
        rules=Rules(
            default=_default,
            prepare_create=_prepare_create,
            prepare_update=_prepare_update,
            prepare_status=_prepare_status,
            validate_create=_validate_create,
            validate_update=_validate_update,
            warnings=_warnings,
            cells=_cells,
        ),
    )
}

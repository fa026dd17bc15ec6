"""Volume attachments: which volume hangs on which node.

Source: storage.k8s.io/v1 of v1.36.3.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.rules import checks
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.kinds.storage.csi import validate_driver_name
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    forbidden,
    invalid,
    required,
    too_long,
)

_ONE_SOURCE: Final = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
_LONGEST_METADATA: Final = 256 * 1024
_LONGEST_MESSAGE: Final = 1024


def _empty_status() -> Tree:
    return {"attached": False}


def _validate_source(source: Tree) -> list[Violation]:
    name, inline = source.get("persistentVolumeName"), source.get("inlineVolumeSpec")
    if name is None and inline is None:
        return [required("spec.source", _ONE_SOURCE)]
    if name is not None and inline is not None:
        return [forbidden("spec.source", _ONE_SOURCE)]
    if name == "":
        text = "must specify non empty persistentVolumeName"
        return [required("spec.source.persistentVolumeName", text)]
    return []


def _validate_error(error: Tree | None, field: str) -> list[Violation]:
    if error is None:
        return []
    found: list[Violation] = []
    if len((error.get("message") or "").encode()) > _LONGEST_MESSAGE:
        found.append(too_long(f"{field}.message", _LONGEST_METADATA))
    code = error.get("errorCode")
    if code is not None and code < 0:
        found.append(invalid(f"{field}.errorCode", code, names.not_between(0, 2147483647)))
    return found


def _validate(tree: Tree) -> list[Violation]:
    spec, status = tree.get("spec") or {}, tree.get("status") or {}
    source, node = spec.get("source") or {}, spec.get("nodeName") or ""
    found = validate_driver_name(spec.get("attacher") or "", "spec.attacher")
    found += _validate_source(source)
    found += checks.each(names.dns_subdomain(node), "spec.nodeName", node)
    metadata = status.get("attachmentMetadata") or {}
    size = sum(len(key.encode()) + len(value.encode()) for key, value in metadata.items())
    if size > _LONGEST_METADATA:
        found.append(too_long("status.attachmentMetadata", _LONGEST_METADATA))
    for key in ("attachError", "detachError"):
        found += _validate_error(status.get(key), f"status.{key}")
    volume = source.get("persistentVolumeName")
    if volume is not None:
        where = "spec.source.persistentVolumeName"
        found += checks.each(names.dns_subdomain(volume), where, volume)
    return found


def _validate_update(new: Tree, old: Tree) -> list[Violation]:
    spec = new.get("spec")
    return _validate(new) + checks.immutable(spec, old.get("spec"), "spec", checks.go_value(spec))


def _cells(tree: Tree, now: float) -> list[Any]:
    spec = tree.get("spec") or {}
    return [
        checks.name_cell(tree),
        spec.get("attacher") or "",
        dig(spec, "source", "persistentVolumeName") or "",
        spec.get("nodeName") or "",
        dig(tree, "status", "attached") or False,
        checks.age_cell(tree, now),
    ]


RULES: Final = Rules(
    prepare_create=checks.without_status(_empty_status),
    prepare_update=checks.keep_status,
    validate_create=_validate,
    validate_update=_validate_update,
    validate_status=_validate_update,
    cells=_cells,
)
DECLARATIONS: Final = {
    "volumeattachments.storage.k8s.io": Declared(
        needs_revision_on_put=True, delete_answer="object", rules=RULES
    )
}

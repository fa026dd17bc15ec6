"""Namespaces: they start Active and stay until their finalizers are gone."""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.rules.checks import age_cell, each, name_cell, restore
from windtunnel.kinds.rules.metadata import validate_finalizer_names
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Context, Rules
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import Violation, invalid

_NAME_LABEL: Final = "kubernetes.io/metadata.name"


def _default(namespace: Tree) -> None:
    metadata = namespace.setdefault("metadata", {})
    if name := metadata.get("name"):
        metadata.setdefault("labels", {})[_NAME_LABEL] = name
    namespace.setdefault("status", {}).setdefault("phase", "Active")


def _prepare_create(namespace: Tree, _: Context) -> None:
    namespace["status"] = {"phase": "Active"}
    finalizers = namespace.setdefault("spec", {}).setdefault("finalizers", [])
    if "kubernetes" not in finalizers:
        finalizers.append("kubernetes")
    _default(namespace)


def _prepare_update(new: Tree, old: Tree, _: Context) -> None:
    restore(new.setdefault("spec", {}), old.get("spec") or {}, "finalizers")
    restore(new, old, "status")


def _finalizers(namespace: Tree) -> list[Violation]:
    found: list[Violation] = []
    field = "spec.finalizers"
    for finalizer in dig(namespace, "spec", "finalizers") or ():
        found += each(names.label_key(finalizer), field, finalizer)
        for violation in validate_finalizer_names([finalizer], field):
            found.append(Violation(field, violation.reason, violation.message))
    return found


def _validate_update(new: Tree, _: Tree) -> list[Violation]:
    return _finalizers(new)


def validate_finalize(new: Tree) -> list[Violation]:
    """Judge a write to the finalize subresource."""
    found: list[Violation] = []
    for index, finalizer in enumerate(dig(new, "spec", "finalizers") or ()):
        where = f"spec.finalizers[{index}]"
        found += each(names.label_key(finalizer), where, finalizer)
        for violation in validate_finalizer_names([finalizer], where):
            found.append(Violation(where, violation.reason, violation.message))
    return found


def _validate_status(new: Tree, _: Tree) -> list[Violation]:
    phase = dig(new, "status", "phase") or ""
    deleting = bool(dig(new, "metadata", "deletionTimestamp"))
    must, state = ("Terminating", "not empty") if deleting else ("Active", "empty")
    if phase == must:
        return []
    text = f"may only be '{must}' if `deletionTimestamp` is {state}"
    return [invalid("status.Phase", phase, text)]


def _selectable(namespace: Tree) -> dict[str, str]:
    return {"status.phase": dig(namespace, "status", "phase") or ""}


def _cells(namespace: Tree, now: float) -> list[Any]:
    phase = dig(namespace, "status", "phase") or ""
    return [name_cell(namespace), phase, age_cell(namespace, now)]


DECLARATIONS: Final = {
    "namespaces": Declared(
        delete_answer="object",
        metadata_judged=(1, 1),
        field_labels=frozenset({"status.phase"}),
        name_rule=names.dns_label,
        rules=Rules(
            default=_default,
            prepare_create=_prepare_create,
            prepare_update=_prepare_update,
            validate_create=_finalizers,
            validate_update=_validate_update,
            validate_status=_validate_status,
            selectable=_selectable,
            cells=_cells,
        ),
    )
}

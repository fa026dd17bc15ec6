"""Replication controllers: the first way to keep a number of pods."""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.pod.template import (
    default_template,
    drop_disabled,
    template_warnings,
    validate_template,
)
from windtunnel.kinds.rules.checks import (
    age_cell,
    always_restarts,
    container_cells,
    keep_status,
    name_cell,
    name_warnings,
    none_negative,
)
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Context, Rules
from windtunnel.kinds.workload.replica_rules import validate_counters
from windtunnel.machinery.selectors import LabelSelector
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import Violation, invalid, required

_MISMATCH: Final = "`selector` does not match template `labels`"
_COUNTERS: Final = (
    "replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration",
)  # fmt: skip


def _default(tree: Tree) -> None:
    spec = tree.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    template = spec.get("template")
    if template is None:
        return
    if labels := dig(template, "metadata", "labels"):
        if not spec.get("selector"):
            spec["selector"] = dict(labels)
        metadata = tree.setdefault("metadata", {})
        if not metadata.get("labels"):
            metadata["labels"] = dict(labels)
    default_template(template)


def _drop(tree: Tree) -> None:
    drop_disabled(dig(tree, "spec", "template", "spec") or {})


def _prepare_create(tree: Tree, _: Context) -> None:
    tree["status"] = {"replicas": 0}
    _drop(tree)


def _prepare_update(new: Tree, old: Tree, context: Context) -> None:
    keep_status(new, old, context)
    _drop(new)


def _validate(tree: Tree) -> list[Violation]:
    spec = tree.get("spec") or {}
    found = none_negative(spec, "spec", "minReadySeconds")
    selector = spec.get("selector")
    if not selector:
        found.append(required("spec.selector"))
    found += none_negative(spec, "spec", "replicas")
    template = spec.get("template")
    if template is None:
        return [*found, required("spec.template")]
    labels = dig(template, "metadata", "labels")
    if selector and not LabelSelector.from_labels(selector).matches(labels):
        found.append(invalid("spec.template.metadata.labels", labels, _MISMATCH))
    found += validate_template(template, "spec.template")
    return found + always_restarts(template, "spec.template", "ReplicationController")


def _validate_update(new: Tree, _: Tree) -> list[Violation]:
    return _validate(new)


def _validate_status(new: Tree, _: Tree) -> list[Violation]:
    return validate_counters(
        new.get("status") or {},
        _COUNTERS,
        ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"),
    )


def _warnings(new: Tree, old: Tree | None) -> list[str]:
    template = dig(new, "spec", "template") or {}
    if old is None:
        return name_warnings(new) + template_warnings(template, "spec.template")
    if dig(old, "spec") == dig(new, "spec"):
        return []
    return template_warnings(template, "spec.template")


def _selectable(tree: Tree) -> dict[str, str]:
    return {"status.replicas": str(dig(tree, "status", "replicas") or 0)}


def _cells(tree: Tree, now: float) -> list[Any]:
    spec, status = tree.get("spec") or {}, tree.get("status") or {}
    selector = str(LabelSelector.from_labels(spec.get("selector")))
    return [
        name_cell(tree),
        spec.get("replicas") or 0,
        status.get("replicas") or 0,
        status.get("readyReplicas") or 0,
        age_cell(tree, now),
        *container_cells(spec.get("template") or {}),
        selector or "<none>",
    ]


DECLARATIONS: Final = {
    "replicationcontrollers": Declared(
        generation="spec",
        default_propagation="Orphan",
        field_labels=frozenset({"status.replicas"}),
        rules=Rules(
            default=_default,
            prepare_create=_prepare_create,
            prepare_update=_prepare_update,
            validate_create=_validate,
            validate_update=_validate_update,
            validate_status=_validate_status,
            warnings=_warnings,
            selectable=_selectable,
            cells=_cells,
        ),
    )
}

"""What of a job's pod template may change: where and with what pods run, while none does."""

from __future__ import annotations

from typing import Final

from windtunnel.kinds.rules import checks
from windtunnel.kinds.workload.job_status import condition_is_true
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    invalid,
)

_MUTABLE_WHILE_SUSPENDED: Final = ("nodeSelector", "tolerations", "schedulingGates")


def _rests(tree: Tree) -> bool:
    """Say whether a job is suspended and has no pods, so that its template may change."""
    status = tree.get("status") or {}
    never_started = status.get("startTime") is None
    return bool(
        dig(tree, "spec", "suspend")
        and (never_started or condition_is_true(status, "Suspended"))
        and not status.get("active")
    )


def _with_node_affinity_of(new: Tree, old: Tree) -> Tree | None:
    """Return the old affinity, its node affinity replaced by the new one."""
    affinity = {key: value for key, value in old.items() if key != "nodeAffinity"}
    if new.get("nodeAffinity") is not None:
        affinity["nodeAffinity"] = new["nodeAffinity"]
    return affinity or None


def _tolerated(new: Tree, old: Tree) -> Tree:
    """Return the old template with all that may change while a job rests taken from the new."""
    pod, before = dict(new.get("spec") or {}), dict(old.get("spec") or {})
    affinity = _with_node_affinity_of(pod.get("affinity") or {}, before.get("affinity") or {})
    before.pop("affinity", None)
    if affinity is not None or "affinity" in pod:
        before["affinity"] = affinity if affinity is not None else pod["affinity"]
    for key in _MUTABLE_WHILE_SUSPENDED:
        checks.restore(before, pod, key)
    for group in ("containers", "initContainers"):
        ours, theirs = pod.get(group) or [], before.get(group) or []
        if len(ours) == len(theirs) and theirs:
            before[group] = [_with_resources_of(a, b) for a, b in zip(ours, theirs, strict=True)]
    kept = {**old, "spec": before}
    checks.restore(kept, new, "metadata")
    return kept


def _with_resources_of(new: Tree, old: Tree) -> Tree:
    if new.get("name") != old.get("name"):
        return old
    kept = dict(old)
    checks.restore(kept, new, "resources")
    return kept


def validate_template_update(new: Tree, old: Tree) -> list[Violation]:
    """Judge an update of the template."""
    template, before = dig(new, "spec", "template") or {}, dig(old, "spec", "template") or {}
    if _rests(old):
        kept = _tolerated(template, before)
        if kept == template:
            return []
        return [invalid("spec.template.spec", _shown(template["spec"]), checks.IMMUTABLE)]
    if template == before:
        return []
    labels = dig(template, "metadata", "labels") or {}
    shown = {"labels": labels, **_shown({"spec": template.get("spec") or {}})}
    return [invalid("spec.template", shown, checks.IMMUTABLE)]


def _shown(tree: Tree) -> Tree:
    shown: Tree = checks.go_value(tree)
    return shown

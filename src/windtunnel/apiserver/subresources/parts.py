"""Parts of an object that are written on their own: status and its likes.

A part says what of a write counts and how the result is judged; everything else of the update is
the same as for the whole object.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from windtunnel.kinds import Context, Kind
from windtunnel.kinds.access.certificatesigningrequests import stamp_conditions, validate_approval
from windtunnel.kinds.namespaces import validate_finalize
from windtunnel.kinds.pod.update import validate_ephemeral_update, validate_resize
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import Violation


@dataclass(frozen=True, slots=True)
class Part:
    """What one subresource may change."""

    prepare: Callable[[Tree, Tree, Context], None]
    """(new, old): keep of the old all that this part is not."""
    judge: Callable[[Tree, Tree], list[Violation]]
    """(new, old)"""
    counts: bool = False
    """A change of this part is a new generation."""


def whole(kind: Kind) -> Part:
    """Return the rules of a write to the object itself."""
    rules = kind.rules
    return Part(rules.prepare_update, rules.validate_update, counts=True)


def _restore(new: Tree, old: Tree, field: str) -> None:
    if field in old:
        new[field] = old[field]
    else:
        new.pop(field, None)


def _restore_all_but(new: Tree, old: Tree, *kept: str) -> None:
    for field in {**new, **old}:
        if field not in kept:
            _restore(new, old, field)


def status(kind: Kind) -> Part:
    """Return the rules of a write to the status."""
    rules = kind.rules

    def prepare(new: Tree, old: Tree, context: Context) -> None:
        _restore_all_but(new, old, "metadata", "status")
        rules.prepare_status(new, old, context)

    return Part(prepare, rules.validate_status)


def _finalize(new: Tree, old: Tree, _: Context) -> None:
    finalizers = dig(new, "spec", "finalizers")
    _restore_all_but(new, old, "metadata", "spec")
    new["spec"] = {**(old.get("spec") or {})}
    new["spec"].pop("finalizers", None)
    if finalizers:
        new["spec"]["finalizers"] = finalizers


def _approve(new: Tree, old: Tree, context: Context) -> None:
    conditions = dig(new, "status", "conditions")
    _restore_all_but(new, old, "metadata")
    new["status"] = {**(old.get("status") or {})}
    if conditions is not None:
        new["status"]["conditions"] = conditions
    stamp_conditions(new, old, context)


def _add_ephemeral(new: Tree, old: Tree, _: Context) -> None:
    containers = dig(new, "spec", "ephemeralContainers")
    _restore_all_but(new, old, "metadata")
    new["metadata"] = {**old["metadata"], "managedFields": new["metadata"].get("managedFields")}
    new["spec"] = {**(old.get("spec") or {})}
    new["spec"].pop("ephemeralContainers", None)
    if containers:
        new["spec"]["ephemeralContainers"] = containers


def _names(spec: Tree, field: str) -> list[str]:
    return [each.get("name", "") for each in spec.get(field) or ()]


def _resize(new: Tree, old: Tree, _: Context) -> None:
    """Keep of the new pod the resources of its containers, where they are the same ones."""
    wanted = new.get("spec") or {}
    spec = {**(old.get("spec") or {})}
    for field in ("containers", "initContainers"):
        if _names(wanted, field) != _names(spec, field):
            spec[field] = wanted.get(field)
        elif spec.get(field):
            spec[field] = [
                {**before, **_sizes(after)}
                for before, after in zip(spec[field], wanted[field], strict=True)
            ]
    _restore_all_but(new, old, "metadata")
    new["metadata"] = {**old["metadata"], "managedFields": new["metadata"].get("managedFields")}
    new["spec"] = spec


def _sizes(container: Tree) -> Tree:
    return {part: container[part] for part in ("resources", "resizePolicy") if part in container}


def _scale(new: Tree, old: Tree, _: Context) -> None:
    _restore(new, old, "status")


def _no_violations(_: Tree, __: Tree) -> list[Violation]:
    return []


FINALIZE: Final = Part(_finalize, lambda new, _: validate_finalize(new))
APPROVAL: Final = Part(_approve, validate_approval)
EPHEMERAL_CONTAINERS: Final = Part(_add_ephemeral, validate_ephemeral_update, counts=True)
RESIZE: Final = Part(_resize, validate_resize, counts=True)
SCALE: Final = Part(_scale, _no_violations, counts=True)

_BY_NAME: Final = {
    ("namespaces", "finalize"): FINALIZE,
    ("certificatesigningrequests.certificates.k8s.io", "approval"): APPROVAL,
    ("pods", "ephemeralcontainers"): EPHEMERAL_CONTAINERS,
    ("pods", "resize"): RESIZE,
}


def part_of(kind: Kind, subresource: str) -> Part | None:
    """Return the rules of a subresource that is part of its object; None where it is not."""
    if not subresource:
        return whole(kind)
    if subresource == "status":
        return status(kind)
    return _BY_NAME.get((kind.resource, subresource))


__all__ = ["SCALE", "Part", "part_of"]

"""Leases: who holds something, and until when.

Source: coordination.k8s.io/v1 of v1.36.3.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.rules import checks
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Context, Rules
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    invalid,
)


def _drop_coordination(tree: Tree, _: Context) -> None:
    """Forget what only coordinated leader election uses; it is off by default."""
    spec = tree.get("spec") or {}
    for key in ("strategy", "preferredHolder"):
        spec.pop(key, None)


def _prepare_update(new: Tree, _: Tree, context: Context) -> None:
    _drop_coordination(new, context)


def _validate(tree: Tree) -> list[Violation]:
    spec = tree.get("spec") or {}
    duration, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    found: list[Violation] = []
    if duration is not None and duration <= 0:
        found.append(invalid("spec.leaseDurationSeconds", duration, "must be greater than 0"))
    return found + checks.not_negative(transitions, "spec.leaseTransitions")


def _cells(tree: Tree, now: float) -> list[Any]:
    holder = dig(tree, "spec", "holderIdentity") or ""
    return [checks.name_cell(tree), holder, checks.age_cell(tree, now)]


RULES: Final = Rules(
    prepare_create=_drop_coordination,
    prepare_update=_prepare_update,
    validate_create=_validate,
    validate_update=lambda new, _: _validate(new),
    cells=_cells,
)
DECLARATIONS: Final = {
    "leases.coordination.k8s.io": Declared(
        creates_on_put=True, needs_revision_on_put=True, rules=RULES
    )
}

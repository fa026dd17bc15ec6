"""Bindings: the sentence "this pod runs there", which a scheduler writes."""

from __future__ import annotations

from typing import Final

from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import Violation, not_supported, required


def validate_binding(binding: Tree) -> list[Violation]:
    """Judge the target of a binding: a node, by name."""
    found: list[Violation] = []
    kind = dig(binding, "target", "kind") or ""
    if kind not in ("", "Node"):
        found.append(not_supported("target.kind", kind, ["Node", "<empty>"]))
    if not dig(binding, "target", "name"):
        found.append(required("target.name"))
    return found


DECLARATIONS: Final = {"bindings": Declared(rules=Rules(validate_create=validate_binding))}

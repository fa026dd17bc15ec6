"""What a kind's module contributes: its rules, and what else cannot be read from recorded data.

The fields mean what they mean in ``Kind``. Source of those that no schema says (generation, PUT,
DELETE, field selectors): kube-apiserver v1.36.3, measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from windtunnel.kinds.served.kind import DeleteAnswer, Generation, Rules
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """The hand-written half of a kind; the recorded half is ``kinds.served.recorded``."""

    rules: Rules = field(default_factory=Rules)
    name_rule: names.NameRule | None = None
    stored: str = ""
    to_stored: Callable[[Tree], Tree] | None = None
    from_stored: Callable[[Tree], Tree] | None = None
    generation: Generation = "none"
    creates_on_put: bool = False
    needs_revision_on_put: bool = False
    delete_answer: DeleteAnswer = "status"
    default_propagation: str = ""
    metadata_judged: tuple[int, int] = (1, 0)
    field_labels: frozenset[str] = frozenset()
    unknown_field_label: str = ""
    """"": the usual words, which depend on whether the kind knows any field."""
    deprecated: str = ""

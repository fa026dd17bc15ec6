"""What a kind's module contributes: its rules, and what else cannot be read from recorded data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from windtunnel.kinds.served.kind import NameRule, Rules
from windtunnel.machinery.tree import Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """The hand-written half of a kind; the recorded half is ``kinds.recorded``."""

    rules: Rules = field(default_factory=Rules)
    name_rule: NameRule | None = None
    stored: str = ""
    to_stored: Callable[[Tree], Tree] | None = None
    from_stored: Callable[[Tree], Tree] | None = None

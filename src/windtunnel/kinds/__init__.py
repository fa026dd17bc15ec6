"""The nouns: one file per Kubernetes kind, each a declaration and its pure rules.

Names are resolved at first use: a client that only counts requests of pods should not pay for the
rules of every kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from windtunnel.machinery.exports import lazily

if TYPE_CHECKING:
    from windtunnel.kinds.served.catalogue import Catalogue
    from windtunnel.kinds.served.kind import Context, Kind, Rules
    from windtunnel.kinds.served.registry import builtin_kinds, structure_of

__all__ = ["Catalogue", "Context", "Kind", "Rules", "builtin_kinds", "structure_of"]

__getattr__ = lazily(
    __name__,
    {
        "kinds.served.catalogue": ("Catalogue",),
        "kinds.served.kind": ("Context", "Kind", "Rules"),
        "kinds.served.registry": ("builtin_kinds", "structure_of"),
    },
)

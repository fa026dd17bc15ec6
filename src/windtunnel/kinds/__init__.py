"""The nouns: one file per Kubernetes kind, each a declaration and its pure rules.

Names are resolved at first use: a client that only counts requests of pods should not pay for the
rules of every kind.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from windtunnel.kinds.served.catalogue import Catalogue
    from windtunnel.kinds.served.kind import Context, Kind, Rules
    from windtunnel.kinds.served.registry import builtin_kinds, structure_of

__all__ = ["Catalogue", "Context", "Kind", "Rules", "builtin_kinds", "structure_of"]

_HOMES: Final = {
    "Catalogue": "catalogue",
    "Context": "kind",
    "Kind": "kind",
    "Rules": "kind",
    "builtin_kinds": "registry",
    "structure_of": "registry",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"windtunnel.kinds.served.{home}"), name)

"""Exports of a package that are resolved at first use, so that nobody pays for the others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(package: str, homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package.

    Args:
        package: Its ``__name__``.
        homes: By module, below ``windtunnel``: the names that it gives.
    """
    places = {name: home for home, names in homes.items() for name in names}

    def resolve(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f"windtunnel.{places[name]}"), name)
        # Kept, because the import of a module ``start`` has bound that to the name ``start``.
        setattr(sys.modules[package], name, found)
        return found

    return resolve

"""The only place that knows everyone: settings in, a wired cluster or agent out.

Parts are put together by plain constructor calls: in ``parts``, for a cluster that is served
(``cluster``: asyncio, TLS, signals) and for one in virtual time (``virtual``: neither), and in
``components`` for agents, each in a process of its own (``agent``). What is exported here costs no
more than a command line may, and is resolved at first use, for an agent needs none of it;
``serve``, ``parts`` and ``virtual`` import the whole house and are imported by name, by whoever is
about to run it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from windtunnel.assembly.settings import (
        COMPACT_PATH,
        PARTS,
        WITHOUT_EFFECT,
        Settings,
        choose_plugins,
        parse_flag,
    )
    from windtunnel.assembly.start import start

__all__ = [
    "COMPACT_PATH",
    "PARTS",
    "WITHOUT_EFFECT",
    "Settings",
    "choose_plugins",
    "parse_flag",
    "start",
]

_HOMES: Final = {
    "COMPACT_PATH": "settings",
    "PARTS": "settings",
    "Settings": "settings",
    "WITHOUT_EFFECT": "settings",
    "choose_plugins": "settings",
    "parse_flag": "settings",
    "start": "start",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"windtunnel.assembly.{home}"), name)
    # The import has bound the module ``start`` to this name.
    globals()[name] = found
    return found

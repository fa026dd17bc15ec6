"""Serves the Kubernetes API: one synchronous core, an edge that speaks HTTP around it.

A request is one call, ``Core.handle(request)``; it does no I/O and never waits. What must come from
outside (a webhook's verdict) is returned as an ``Ask`` and the request is played again with the
answer. ``LocalClient`` is a client of the core without HTTP, for our own parts. ``edge`` does I/O
and is not exported here: only ``assembly`` imports it.

Names are resolved at first use: who wants only a ``Request`` should not pay for the core and its
library for keys.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from windtunnel.apiserver.access.static_tokens import read_tokens
    from windtunnel.apiserver.access.tokens import Signer
    from windtunnel.apiserver.core import Core
    from windtunnel.apiserver.inprocess import LocalClient
    from windtunnel.apiserver.mint import Mint, live_mint, seeded_mint
    from windtunnel.apiserver.plugin_names import DEFAULT_PLUGINS, OPTIONAL_PLUGINS
    from windtunnel.apiserver.request import Answer, Frame, Outcome, Request, Stream
    from windtunnel.machinery.admission import Ask, Reply, User

__all__ = [
    "DEFAULT_PLUGINS",
    "OPTIONAL_PLUGINS",
    "Answer",
    "Ask",
    "Core",
    "Frame",
    "LocalClient",
    "Mint",
    "Outcome",
    "Reply",
    "Request",
    "Signer",
    "Stream",
    "User",
    "live_mint",
    "read_tokens",
    "seeded_mint",
]

_HOMES: Final = {
    "DEFAULT_PLUGINS": "apiserver.plugin_names",
    "OPTIONAL_PLUGINS": "apiserver.plugin_names",
    "Answer": "apiserver.request",
    "Ask": "machinery.admission",
    "Core": "apiserver.core",
    "Frame": "apiserver.request",
    "LocalClient": "apiserver.inprocess",
    "Mint": "apiserver.mint",
    "Outcome": "apiserver.request",
    "Reply": "machinery.admission",
    "Request": "apiserver.request",
    "Signer": "apiserver.access.tokens",
    "Stream": "apiserver.request",
    "User": "machinery.admission",
    "live_mint": "apiserver.mint",
    "read_tokens": "apiserver.access.static_tokens",
    "seeded_mint": "apiserver.mint",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"windtunnel.{home}"), name)

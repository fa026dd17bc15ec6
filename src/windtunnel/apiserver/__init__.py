"""Serves the Kubernetes API: one synchronous core, an edge that speaks HTTP around it.

A request is one call, ``Core.handle(request)``; it does no I/O and never waits. What must come from
outside (a webhook's verdict) is returned as an ``Ask`` and the request is played again with the
answer. ``LocalClient`` is a client of the core without HTTP, for our own parts. ``edge`` does I/O
and is not exported here: only ``assembly`` imports it.

Names are resolved at first use: who wants only a ``Request`` should not pay for the core and its
library for keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from windtunnel.machinery.exports import lazily

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

__getattr__ = lazily(
    __name__,
    {
        "apiserver.access.static_tokens": ("read_tokens",),
        "apiserver.access.tokens": ("Signer",),
        "apiserver.core": ("Core",),
        "apiserver.inprocess": ("LocalClient",),
        "apiserver.mint": ("Mint", "live_mint", "seeded_mint"),
        "apiserver.plugin_names": ("DEFAULT_PLUGINS", "OPTIONAL_PLUGINS"),
        "apiserver.request": ("Answer", "Frame", "Outcome", "Request", "Stream"),
        "machinery.admission": ("Ask", "Reply", "User"),
    },
)

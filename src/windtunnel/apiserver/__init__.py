"""Serves the Kubernetes API: one synchronous core, an edge that speaks HTTP around it.

A request is one call, ``Core.handle(request)``; it does no I/O and never waits. What must come from
outside (a webhook's verdict) is returned as an ``Ask`` and the request is played again with the
answer. ``LocalClient`` is the same core without HTTP for our own parts. ``edge`` does I/O and is
not exported here: only ``assembly`` imports it.
"""

from windtunnel.apiserver.access.authentication import read_tokens
from windtunnel.apiserver.access.tokens import Signer
from windtunnel.apiserver.core import Core
from windtunnel.apiserver.inprocess import LocalClient
from windtunnel.apiserver.mint import Mint, live_mint, seeded_mint
from windtunnel.apiserver.request import Answer, Frame, Outcome, Request, Stream
from windtunnel.machinery.admission import Ask, Reply, User

__all__ = [
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

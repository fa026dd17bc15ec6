"""Serves the Kubernetes API: one synchronous core, an edge that speaks HTTP around it.

A request is one call, ``Core.handle(request)``; it does no I/O and never waits. What must come from
outside (a webhook's verdict) is returned as an ``Ask`` and the request is played again with the
answer. ``inprocess.LocalClient`` is the same core without HTTP for our own parts.
"""

from windtunnel.apiserver.request import Answer, Ask, Frame, Reply, Request, Stream, User

__all__ = ["Answer", "Ask", "Frame", "Reply", "Request", "Stream", "User"]

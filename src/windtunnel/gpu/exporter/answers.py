"""What an exporter answers to a scrape, and to who asks whether it is well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from windtunnel.gpu.http_server import PLAIN, HttpReply

_METRICS: Final = "text/plain; version=0.0.4; charset=utf-8"


def answer(path: str, text: Callable[[], str]) -> HttpReply:
    """Answer a request for a path; ``text`` makes the metrics."""
    if path == "/metrics":
        return HttpReply(200, text().encode(), _METRICS)
    if path in ("/health", "/healthz", "/readyz"):
        return HttpReply(200, b"OK", PLAIN)
    return HttpReply(404, b"404 page not found\n", PLAIN)

"""Calls to the outside that a write waits for: POSTs to webhooks.

They run on a few threads, each with a blocking connection, because they are rare and slow; the
reply comes back to the thread that decides.
"""

from __future__ import annotations

import asyncio
import http.client
import ssl
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final
from urllib.parse import urlsplit

from windtunnel.apiserver.edge.dialing import in_words
from windtunnel.client.proven import ProvenConnection
from windtunnel.machinery.admission import Ask, Reply

_THREADS: Final = 8
_LARGEST_REPLY: Final = 3 * 1024 * 1024


class Asks:
    """Performs asks; one for all requests and all parked writes of a server."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="ask")
        self._running: set[asyncio.Task[None]] = set()

    async def reply(self, ask: Ask) -> Reply:
        """Make the call and return what came of it; a failure is a reply too."""
        loop = asyncio.get_running_loop()
        # The socket's own timeout begins anew with each packet; this one is for the whole call.
        try:
            async with asyncio.timeout(ask.timeout_seconds):
                return await loop.run_in_executor(self._threads, call, ask)
        except TimeoutError:
            return Reply(error="context deadline exceeded")

    def start(self, ask: Ask, done: Callable[[Reply], None]) -> None:
        """Make the call in the background; ``done`` is called on the loop's thread."""

        async def run() -> None:
            done(await self.reply(ask))

        task = asyncio.get_running_loop().create_task(run())
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def close(self) -> None:
        """Abandon what is running."""
        for task in self._running:
            task.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)


def call(ask: Ask) -> Reply:
    """POST the body and return the reply; blocks up to the ask's timeout a packet."""
    url = urlsplit(ask.url)
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    try:
        connection = _connect(ask, url.hostname or "", url.port)
        try:
            connection.request(
                "POST", path, ask.body,
                {"Content-Type": "application/json", "Accept": "application/json"},
            )  # fmt: skip
            response = connection.getresponse()
            return Reply(status=response.status, body=response.read(_LARGEST_REPLY))
        finally:
            connection.close()
    except TimeoutError:
        return Reply(error="context deadline exceeded")
    except (OSError, http.client.HTTPException) as error:
        return Reply(error=in_words(error, url.hostname or "", url.port or 443))


def _connect(ask: Ask, host: str, port: int | None) -> http.client.HTTPConnection:
    if ask.url.startswith("http://"):
        return http.client.HTTPConnection(host, port, timeout=ask.timeout_seconds)
    trust = ssl.create_default_context(cadata=ask.ca.decode() if ask.ca else None)
    return ProvenConnection(host, port, ask.timeout_seconds, trust, ask.server_name or host)

"""The kubelet's HTTP API on its port: who asks, may they, and who answers.

Everything that moves bytes for a client lives on this part's own thread and event loop; the node's
loop is never asked to wait. ``pods`` and ``find`` are called on that thread too: they must hand out
what they have at that moment.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from windtunnel.client import Client, farewell
from windtunnel.errors import WindtunnelError
from windtunnel.kernel import Clock
from windtunnel.machinery.admission import User
from windtunnel.machinery.errors import ApiError
from windtunnel.machinery.tree import Tree, encode
from windtunnel.nodes.kubelet.runtime.protocol import ContainerRecord, Runtime
from windtunnel.nodes.kubelet.streams import telling
from windtunnel.nodes.kubelet.streams.access import (
    Access,
    certified,
    subresources_of,
    verb_of,
)
from windtunnel.nodes.kubelet.streams.containers import Containers
from windtunnel.nodes.kubelet.streams.http import TEXT, Exchange, NoRequest, read_request

_JSON: Final = "application/json"
_FIGURES: Final = "text/plain; version=0.0.4; charset=utf-8"
_BUFFERED: Final = 64 * 1024
_FAREWELL_SECONDS: Final = 5.0
_HANDSHAKE_SECONDS: Final = 0.2
"""How long who has just come may shake hands: in Python 3.11 only then can it be closed."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """Files of the kubelet's identity and of the authority that signs clients' certificates."""

    certificate: Path
    key: Path
    client_authority: Path


class KubeletApi:
    """Serves one node's kubelet API."""

    def __init__(
        self,
        runtime: Runtime,
        pods: Callable[[], list[Tree]],
        find: Callable[[str, str, str], ContainerRecord | None],
        *,
        node: str,
        review: Client,
        clock: Clock,
        credentials: Credentials | None,
        configuration: Callable[[], Tree] = dict,
        figures: Callable[[], bytes] = bytes,
        healthy: Callable[[], bool] = lambda: True,
        crashed: Callable[[Exception], None] = lambda error: None,
    ) -> None:
        """Wire the part.

        Args:
            runtime: Runs the containers.
            pods: Returns the node's pods with their present statuses.
            find: Returns the newest container of (namespace, pod, container).
            node: The node's name.
            review: Asks the API server about tokens and rights; nobody else may use it.
            clock: Says for how long answers are remembered.
            credentials: None: plain HTTP without any check, for tests.
            configuration: Returns the KubeletConfiguration as it is in force.
            figures: Returns further metrics in Prometheus' format.
            healthy: Whether the node is well.
            crashed: Told of bugs.
        """
        self._runtime, self._pods, self._node = runtime, pods, node
        self._containers = Containers(runtime, pods, find, clock)
        self._access = Access(review, clock, node)
        self._credentials = credentials
        self._configuration, self._figures = configuration, figures
        self._healthy, self._crashed = healthy, crashed
        self._reviewing = ThreadPoolExecutor(1, thread_name_prefix="kubelet-review")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._serving: asyncio.Server | None = None
        self._tasks: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    def start(self, host: str, port: int = 0) -> int:
        """Listen, and return the port.

        Raises:
            OSError: The address is taken, or the credentials cannot be used.
        """
        loop = asyncio.new_event_loop()
        self._loop = loop
        self._thread = threading.Thread(target=loop.run_forever, daemon=True, name="kubelet-api")
        self._thread.start()
        try:
            return asyncio.run_coroutine_threadsafe(self._listen(host, port), loop).result()
        except Exception:
            self.stop()
            raise

    def stop(self) -> None:
        """Close everything; harmless when stopped or not started."""
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        self._loop = self._thread = None
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._end(), loop).result(_FAREWELL_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_FAREWELL_SECONDS)
        if not thread.is_alive():
            loop.close()
        self._reviewing.shutdown(wait=False, cancel_futures=True)

    async def _listen(self, host: str, port: int) -> int:
        self._serving = await asyncio.start_server(
            self._accept, host, port, ssl=_tls(self._credentials), limit=_BUFFERED, backlog=256
        )
        found: int = self._serving.sockets[0].getsockname()[1]
        return found

    async def _end(self) -> None:
        if self._serving is not None:
            self._serving.close()
        ours = asyncio.current_task()
        if coming := asyncio.all_tasks() - self._tasks.keys() - {ours}:
            await asyncio.wait(coming, timeout=_HANDSHAKE_SECONDS)
        begun = asyncio.all_tasks() - {ours}
        for task in begun:
            task.cancel()
        writers = list(self._tasks.values())
        if begun:
            await asyncio.wait(begun, timeout=_FAREWELL_SECONDS / 2)
        for writer in writers:
            writer.transport.abort()
        await asyncio.sleep(0)  # a turn in which the connections learn of it

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks[task] = writer
        try:
            writer.transport.set_write_buffer_limits(_BUFFERED)
            await self._serve(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass  # the client has left, or we do
        except Exception as error:
            self._crashed(error)
        finally:
            try:
                await farewell.close(writer, _FAREWELL_SECONDS)
            finally:
                del self._tasks[task]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked = await read_request(reader)
        except NoRequest:
            writer.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
            return
        if asked is None:
            return
        exchange = Exchange(asked, reader, writer)
        if self._credentials is not None and not await self._admitted(exchange):
            return
        try:
            await self._answer(exchange)
        except ApiError as refusal:
            await exchange.answer(refusal.code, refusal.message)

    async def _admitted(self, exchange: Exchange) -> bool:
        asked, loop = exchange.asked, asyncio.get_running_loop()
        user: User | None = None
        scheme, _, token = asked.headers.get("authorization", "").partition(" ")
        verb, subresources = verb_of(asked.method), subresources_of(asked.path)
        try:
            if scheme.lower() == "bearer" and token.strip():
                user = await loop.run_in_executor(
                    self._reviewing, self._access.bearer, token.strip()
                )
            else:
                user = certified(exchange.writer.get_extra_info("ssl_object"))
            if user is None:
                await exchange.answer(401, "Unauthorized")
                return False
            allowed = await loop.run_in_executor(
                self._reviewing, self._access.allows, user, verb, subresources
            )
        except (ApiError, WindtunnelError, OSError) as error:
            text = f"Authorization error (user={user.name if user else ''}, verb={verb}): {error}"
            await exchange.answer(500, text)
            return False
        if not allowed:
            await exchange.answer(
                403,
                f"Forbidden (user={user.name}, verb={verb}, resource=nodes, "
                f"subresource(s)=[{' '.join(subresources)}])",
            )
        return allowed

    async def _answer(self, exchange: Exchange) -> None:
        parts = exchange.asked.path.strip("/").split("/")
        calls: dict[str, Callable[[Exchange, list[str]], Awaitable[None]]] = {
            "exec": partial(self._containers.run, attached=False),
            "attach": partial(self._containers.run, attached=True),
            "run": self._containers.run_to_end,
            "containerLogs": self._containers.logs,
            "portForward": self._containers.forward,
        }
        call = calls.get(parts[0])
        if call is not None:
            await call(exchange, parts[1:])
            return
        page = self._page("/".join(parts))
        if page is None:
            await exchange.answer(404, "404 page not found\n")
        elif exchange.asked.method not in ("GET", "HEAD"):
            await exchange.answer(405, "405: Method Not Allowed")
        else:
            status, body, content_type = page
            await exchange.answer(status, body, content_type)

    def _page(self, path: str) -> tuple[int, bytes, str] | None:
        records = self._runtime.containers
        match path:
            case "healthz" | "healthz/ping" | "healthz/log" | "healthz/syncloop":
                well = self._healthy()
                return (200, b"ok", TEXT) if well else (500, b"the node is not well\n", TEXT)
            case "pods":
                return 200, encode(telling.pod_list(self._pods())) + b"\n", _JSON
            case "runningpods":
                return 200, encode(telling.running_pods(records())) + b"\n", _JSON
            case "stats/summary":
                told = telling.summary(self._node, self._pods(), records())
                return 200, encode(told) + b"\n", _JSON
            case "configz":
                return 200, encode({"kubeletconfig": self._configuration()}) + b"\n", _JSON
            case "metrics":
                own = telling.counts(self._node, self._pods(), records())
                return 200, own + self._figures(), _FIGURES
            case "metrics/resource":
                return 200, telling.resource_figures(records()), _FIGURES
            case "metrics/cadvisor" | "metrics/probes":
                return 200, b"", _FIGURES
        return None


def _tls(credentials: Credentials | None) -> ssl.SSLContext | None:
    if credentials is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(credentials.certificate, credentials.key)
    context.load_verify_locations(credentials.client_authority)
    # Received for, not demanded: metrics are read with tokens.
    context.verify_mode = ssl.CERT_OPTIONAL
    return context

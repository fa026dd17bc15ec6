"""The ASGI application: from a scope to the core and back.

One synchronous call decides a request. Where the core asks for a call outside, the call is made
and the same request is handled again with the reply.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import parse_qsl

from windtunnel.apiserver.edge.answers import Common, Send, send_answer
from windtunnel.apiserver.edge.asks import Asks
from windtunnel.apiserver.edge.gate import Gate
from windtunnel.apiserver.edge.protocol import CERTIFICATE, TAKE_OVER
from windtunnel.apiserver.edge.relays import Relays
from windtunnel.apiserver.edge.streams import Pump
from windtunnel.apiserver.request import BODY_LIMIT, Answer, Outcome, Relay, Request, Stream
from windtunnel.kernel import Clock
from windtunnel.machinery.admission import Ask
from windtunnel.machinery.errors import ApiError, InternalError, Timeout
from windtunnel.machinery.tree import encode
from windtunnel.store import CommitFailed, Store, Version

Handle = Callable[[Request], Outcome]
"""``Core.handle``."""

_DRAINED_BODY: Final = 4 * BODY_LIMIT
"""How much of a body over the limit is still read, so that the client gets to see the refusal."""
_REQUEST_SECONDS: Final = 60.0
_FUTURE_SECONDS: Final = 3.0
"""How long a revision is waited for that has not come yet; the real server's patience."""
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}

_MISSPELT: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")
"""A percent sign in a path that does not begin an escape."""


class App:
    """Answers HTTP requests by asking the core."""

    def __init__(
        self,
        handle: Handle,
        store: Store,
        clock: Clock,
        gate: Gate,
        asks: Asks,
        crashed: Callable[[Exception], None],
    ) -> None:
        """Wire the application.

        Args:
            handle: Decides a request in one synchronous call.
            store: Whose revisions gate what is sent.
            clock: Dates the answers.
            gate: Opens when revisions are durable.
            asks: Makes calls to the outside.
            crashed: Told of bugs on the way; it decides whether the cluster must stop.
        """
        self._handle, self._store, self._gate, self._asks = handle, store, gate, asks
        self._crashed = crashed
        self._common = Common(clock)
        self.relays = Relays(self._common)
        self._pumps: set[Pump] = set()
        self._closing = False

    async def __call__(self, scope: Any, receive: Any, send: Send) -> None:
        """Answer one request."""
        try:
            if _MISSPELT.search(scope["raw_path"]):
                headers = self._common.headers("text/plain; charset=utf-8", ())
                await send_answer(Answer(400, b"400 Bad Request"), headers, False, send)
                return
            await self._answer(_request(scope), scope, receive, send)
        except Exception as error:
            self._crashed(error)
            raise

    async def _answer(self, request: Request, scope: Any, receive: Any, send: Send) -> None:
        try:
            body = await _whole_body(receive)
            if body is None:
                return
            request.body = body
            outcome = await self._decide(request)
            if isinstance(outcome, Relay):
                # What is passed on tells of objects too.
                await self._gate.passed(self._store.revision)
                take = scope["state"][TAKE_OVER]
                await self.relays.run(outcome, request, scope, take, receive, send)
                return
            if not isinstance(outcome, Answer):
                await self._stream(outcome, receive, send)
                return
            # Even a refusal tells what has been written; so everything waits for the mark.
            await self._gate.passed(self._store.revision)
        except ApiError as refusal:
            outcome = _refused(refusal)
        except CommitFailed as failure:
            outcome = _refused(InternalError(str(failure)))
        headers = self._common.headers(outcome.content_type, outcome.headers)
        accepts_gzip = "gzip" in request.headers.get("accept-encoding", "")
        await send_answer(outcome, headers, accepts_gzip, send)

    def end_streams(self) -> None:
        """End all watches, and those to come, so that connections can be closed."""
        self._closing = True
        self.relays.end()
        for pump in list(self._pumps):
            pump.end()

    async def _decide(self, request: Request) -> Answer | Stream | Relay:
        outcome = self._play(request)
        if isinstance(outcome, Answer) and outcome.awaits:
            await self._come(outcome.awaits)
            outcome = self._play(request)
        if not isinstance(outcome, Ask):
            return outcome
        try:
            async with asyncio.timeout(_seconds_of(request.parameter("timeout"))):
                while isinstance(outcome, Ask):
                    # What is asked outside tells of objects too.
                    await self._gate.passed(self._store.revision)
                    request.answers[outcome.key] = await self._asks.reply(outcome)
                    outcome = self._play(request)
        except TimeoutError as error:
            raise Timeout(
                "Timeout: request did not complete within the allotted timeout", details={}
            ) from error
        return outcome

    async def _come(self, revision: int) -> None:
        """Return when a revision has come, or after a while without it."""
        there = asyncio.Event()

        def look(version: Version) -> None:
            if version.revision >= revision:
                there.set()

        stop = self._store.subscribe("", look)
        try:
            async with asyncio.timeout(_FUTURE_SECONDS):
                await there.wait()
        except TimeoutError:
            return
        finally:
            stop()

    def _play(self, request: Request) -> Outcome:
        try:
            return self._handle(request)
        except CommitFailed:
            raise
        except ApiError as refusal:
            return _refused(refusal)
        except Exception as error:
            self._crashed(error)
            return _refused(
                InternalError(
                    f"Internal error occurred: {type(error).__name__} while answering "
                    f"{request.method} {request.path}; the server's log has more"
                )
            )

    async def _stream(self, stream: Stream, receive: Any, send: Send) -> None:
        pump = Pump(stream, self._store, self._gate)
        self._pumps.add(pump)
        try:
            if self._closing:
                pump.end()
            headers = self._common.headers(stream.content_type, stream.headers)
            await pump.run(headers, receive, send)
        finally:
            self._pumps.discard(pump)


def _request(scope: Any) -> Request:
    headers: dict[str, str] = {}
    for raw, value in scope["headers"]:
        name, text = raw.decode("latin-1"), value.decode("latin-1")
        # Groups to impersonate are one header each.
        repeated = name in headers and name.startswith("impersonate-")
        headers[name] = f"{headers[name]}\n{text}" if repeated else text
    query = scope["query_string"]
    return Request(
        method=scope["method"],
        path=scope["path"],
        query=parse_qsl(query.decode("latin-1"), keep_blank_values=True) if query else [],
        headers=headers,
        content_type=headers.get("content-type"),
        accept=headers.get("accept", ""),
        certificate=scope["state"].get(CERTIFICATE),
    )


async def _whole_body(receive: Any) -> bytes | None:
    """Return the body, or None when the client has left before all of it was there.

    Of a body over the limit so much is returned that the core sees that it is too long.
    """
    message = await receive()
    if message["type"] == "http.disconnect":
        return None
    if not message["more_body"]:
        body: bytes = message["body"]
        return body
    pieces, size = [message["body"]], len(message["body"])
    try:
        async with asyncio.timeout(_REQUEST_SECONDS):
            while message["more_body"] and size <= _DRAINED_BODY:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                if size <= BODY_LIMIT:
                    pieces.append(message["body"])
                size += len(message["body"])
    except TimeoutError as error:
        raise Timeout("Timeout: the body of the request did not arrive", details={}) from error
    return b"".join(pieces)[: BODY_LIMIT + 1]


def _refused(refusal: ApiError) -> Answer:
    return Answer(refusal.code, encode(refusal.to_status()) + b"\n")


def _seconds_of(text: str) -> float:
    """Read a ``timeout`` parameter (``5s``, ``1m``); what cannot be read means the default."""
    for unit, seconds in _UNITS.items():
        number = text.removesuffix(unit)
        if number != text and number.isdigit():
            return min(int(number) * seconds, _REQUEST_SECONDS) or _REQUEST_SECONDS
    return _REQUEST_SECONDS

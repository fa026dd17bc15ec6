"""One watch over HTTP: a thread that reads, and knows how to go on after anything.

It lists page by page, then watches from there. A stream that ends is taken up again at the last
revision seen; where the server has forgotten that far, everything is listed anew, and what vanished
meanwhile is delivered as DELETED with the last state known.
"""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final
from urllib.parse import urlencode

import msgspec

from windtunnel.client.protocol import Change, ChangeType, Deliver
from windtunnel.kernel import Loop
from windtunnel.machinery.tree import Key

Dial = Callable[[float], http.client.HTTPConnection]

MakeHeaders = Callable[[], dict[str, str]]
"""The headers of the next request: a token in them may have been replaced."""

PAGE: Final = 500
"""Objects a page of a list; source: client-go's reflector."""
STREAM_SECONDS: Final = 300
"""How long the server is asked to keep one stream; source: client-go asks for 5 to 10 minutes."""
FIRST_PAUSE_SECONDS: Final = 0.2
LONGEST_PAUSE_SECONDS: Final = 30.0


class _Meta(msgspec.Struct, rename="camel"):
    name: str = ""
    namespace: str = ""
    resource_version: str = ""


class _Head(msgspec.Struct):
    metadata: _Meta
    code: int = 0


class _Frame(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _PageMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    more: str = msgspec.field(default="", name="continue")


class _Page(msgspec.Struct, rename="camel"):
    metadata: _PageMeta
    items: list[msgspec.Raw] | None = None
    kind: str = ""
    api_version: str = ""


_page = msgspec.json.Decoder(_Page)
_frame = msgspec.json.Decoder(_Frame)
_head = msgspec.json.Decoder(_Head)


class _HistoryGone(Exception):
    """The server has forgotten the revision we would go on from."""


class _Refused(Exception):
    """The server answered something else than what was asked for."""


class HttpWatch:
    """Reads one resource in a thread of its own and posts every change to the loop."""

    def __init__(
        self,
        dial: Dial,
        headers: MakeHeaders,
        path: str,
        query: dict[str, str],
        deliver: Deliver,
        loop: Loop,
    ) -> None:
        self._dial, self._headers, self._path, self._query = dial, headers, path, query
        self._deliver, self._loop = deliver, loop
        self._known: dict[Key, tuple[int, bytes]] = {}
        self._revision = ""
        self._synced = False
        self._stopped = threading.Event()
        self._wire: http.client.HTTPConnection | None = None
        self._thread = threading.Thread(target=self._run, name=f"watch {path}", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def stop(self) -> None:
        """Stop; nothing is delivered afterwards."""
        self._stopped.set()
        wire = self._wire
        if wire is not None and wire.sock is not None:
            # Closing alone would not wake a thread that is blocked in a read.
            with suppress(OSError):
                wire.sock.shutdown(2)

    def _run(self) -> None:
        pause = FIRST_PAUSE_SECONDS
        while not self._stopped.is_set():
            try:
                if not self._revision:
                    self._list()
                self._stream()
                pause = FIRST_PAUSE_SECONDS
            except _HistoryGone:
                self._revision = ""
                continue
            except (OSError, http.client.HTTPException, ValueError, _Refused):
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
            finally:
                self._hang_up()
            self._stopped.wait(pause)

    def _list(self) -> None:
        seen: set[Key] = set()
        more, revision = "", ""
        while True:
            query = dict(self._query, limit=str(PAGE), **({"continue": more} if more else {}))
            page = _page.decode(self._open(query, 30.0).read())
            head = _typed_head(page)
            for raw in page.items or ():
                body = bytes(raw)
                seen.add(self._take("ADDED", head + body[1:] if head else body))
            more, revision = page.metadata.more, page.metadata.resource_version
            if not more:
                break
        for key in [key for key in self._known if key not in seen]:
            self._forget(key, int(revision), self._known[key][1])
        if not self._synced:
            self._synced = True
            self._post(Change("SYNCED", Key("", ""), int(revision), b""))
        self._revision = revision

    def _stream(self) -> None:
        query = dict(
            self._query,
            watch="true",
            allowWatchBookmarks="true",
            resourceVersion=self._revision,
            timeoutSeconds=str(STREAM_SECONDS),
        )
        answer = self._open(query, STREAM_SECONDS + 30.0)
        while not self._stopped.is_set():
            line = answer.readline()
            if not line:
                return
            frame = _frame.decode(line)
            body = bytes(frame.object)
            if frame.type == "ERROR":
                if _head.decode(body).code == 410:
                    raise _HistoryGone
                raise _Refused(body.decode(errors="replace"))
            if frame.type == "DELETED":
                meta = _head.decode(body).metadata
                self._forget(Key(meta.namespace, meta.name), int(meta.resource_version), body)
                self._revision = meta.resource_version
            elif frame.type == "BOOKMARK":
                self._revision = _head.decode(body).metadata.resource_version
            else:
                self._take("MODIFIED", body)
                self._revision = _head.decode(body).metadata.resource_version

    def _take(self, type_: ChangeType, body: bytes) -> Key:
        meta = _head.decode(body).metadata
        key, revision = Key(meta.namespace, meta.name), int(meta.resource_version)
        before = self._known.get(key)
        self._known[key] = (revision, body)
        if before is None:
            self._post(Change("ADDED", key, revision, body))
        elif before[0] != revision:
            self._post(Change("MODIFIED", key, revision, body))
        return key

    def _forget(self, key: Key, revision: int, body: bytes) -> None:
        if self._known.pop(key, None) is not None:
            self._post(Change("DELETED", key, revision, body))

    def _post(self, change: Change) -> None:
        def step() -> None:
            if not self._stopped.is_set():
                self._deliver(change)

        self._loop.post(step)

    def _open(self, query: dict[str, str], timeout_seconds: float) -> http.client.HTTPResponse:
        if self._wire is None:
            self._wire = self._dial(timeout_seconds)
        wire = self._wire
        wire.timeout = timeout_seconds
        if wire.sock is not None:
            wire.sock.settimeout(timeout_seconds)
        wire.request("GET", f"{self._path}?{urlencode(query)}", headers=self._headers())
        answer = wire.getresponse()
        if answer.status == 410:
            raise _HistoryGone
        if answer.status != 200:
            raise _Refused(answer.read().decode(errors="replace"))
        return answer

    def _hang_up(self) -> None:
        wire, self._wire = self._wire, None
        if wire is not None:
            wire.close()


def _typed_head(page: _Page) -> bytes:
    """Return what to put before each object's bytes: lists of built-in kinds leave the type out."""
    first = bytes(page.items[0]) if page.items else b""
    if not first or first.startswith((b'{"kind"', b'{"apiVersion"')):
        return b""
    kind = page.kind.removesuffix("List")
    return f'{{"kind":"{kind}","apiVersion":"{page.api_version}",'.encode()

"""Replays recorded requests against a server, and compares its answers with the real server's.

A case is a few requests that prepare, and one whose answer counts. All go over HTTP, as the
recording did: what is compared is what a client sees.
"""

from __future__ import annotations

import http.client
import json
import re
import ssl
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from windtunnel.errors import DataError
from windtunnel.parity.masks import Masks
from windtunnel.parity.report import CaseResult, Report, differences

USERS: Final = (
    'admin-token,admin,admin-uid,"system:masters"\n'
    'alice-token,alice,alice-uid,"devs"\n'
    'bob-token,bob,bob-uid,"devs,ops"\n'
)
"""The static tokens that the recorded requests carry, in the format of a token file."""

_COMPARED_HEADERS: Final = (
    "content-type",
    "warning",
    "www-authenticate",
    "allow",
    "retry-after",
    "location",
    "cache-control",
)
_UNTIL_SECONDS: Final = 2.0
_REQUEST_SECONDS: Final = 60.0
_NAMED: Final = re.compile(r"\$\{(\w+)\}")


class RecordedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request, or the wish that history be forgotten."""

    method: str = "GET"
    path: str = ""
    headers: dict[str, str | None] = {}
    body: msgspec.Raw = msgspec.Raw()
    text: str | None = None
    gen: dict[str, Any] | None = None
    user: str = msgspec.field(default="admin", name="as")
    capture: dict[str, str] = {}
    until: int | None = None
    sleep: float = 0.0
    compact: bool = False


class Comparison(msgspec.Struct, frozen=True, rename="camel"):
    """What of the answer counts."""

    managed_fields: bool = False
    watch: bool = False
    pick: list[str] | None = None
    textlen: bool = False


class Case(msgspec.Struct, frozen=True):
    """One recorded case."""

    id: str
    kind: str
    request: RecordedRequest
    response: dict[str, Any]
    setup: list[RecordedRequest] = []
    compare: Comparison = Comparison()


class Answered(msgspec.Struct, frozen=True):
    """One answer as it came, and what had been sent."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    sent: str

    def values(self, header: str) -> list[str]:
        """Return all values of a header, in order."""
        return [value for name, value in self.headers if name.lower() == header]


def read_cases(path: Path) -> list[Case]:
    """Return the cases of a file, one JSON object a line.

    Raises:
        DataError: the file is not of this format.
    """
    decoder = msgspec.json.Decoder(Case)
    try:
        lines = path.read_bytes().splitlines()
        return [decoder.decode(line) for line in lines if line.strip()]
    except msgspec.MsgspecError as error:
        raise DataError(f"{path} holds no recorded API answers: {error}") from error


class ApiReplay:
    """Plays cases against one server, in order, over one connection.

    Args:
        server: The server's URL; its certificate is not looked at, its answers are.
        compact: Makes the server forget its history.
    """

    def __init__(self, server: str, compact: Callable[[], None]) -> None:
        place = urlsplit(server)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self._wire = http.client.HTTPSConnection(
            place.hostname or "", place.port, timeout=_REQUEST_SECONDS, context=context
        )
        self._compact = compact
        self._pause = threading.Event()

    def play(self, cases: Iterable[Case]) -> Report:
        """Play the cases; one that cannot be played to its end counts as failed."""
        outcomes = []
        for case in cases:
            try:
                found = tuple(differences(case.response, self._answer(case)))
            except (OSError, http.client.HTTPException, LookupError, ValueError) as error:
                self._wire.close()
                found = (f"cannot be played: {type(error).__name__}: {error}",)
            outcomes.append(CaseResult(case.id, case.kind, found))
        return Report(tuple(outcomes))

    def _answer(self, case: Case) -> dict[str, Any]:
        captured: dict[str, Any] = {}
        for step in case.setup:
            if step.compact:
                self._compact()
            else:
                self._send(step, captured)
        answered = self._send(case.request, captured)
        asked = answered.sent + " ".join(bytes(step.body).decode() for step in case.setup)
        masks = Masks(captured, asked, keep_managers=case.compare.managed_fields)
        return _shown(answered, case.compare, masks)

    def _send(self, step: RecordedRequest, captured: dict[str, Any]) -> Answered:
        body = _body(step, captured)
        headers = _headers(step, captured, has_body=body is not None)
        path = _filled(step.path, captured)
        if step.sleep:
            self._pause.wait(step.sleep)
        end = monotonic() + _UNTIL_SECONDS
        while True:
            self._wire.request(step.method, path, body, headers)
            answer = self._wire.getresponse()
            content = answer.read()
            if step.until in (None, answer.status) or monotonic() > end:
                break
            self._pause.wait(0.05)
        for name, place in step.capture.items():
            captured[name] = _at(json.loads(content), place)
        sent = (body or b"").decode(errors="replace")
        return Answered(answer.status, answer.getheaders(), content, sent)


def _body(step: RecordedRequest, captured: dict[str, Any]) -> bytes | None:
    if step.gen is not None:
        text = json.dumps(step.gen["body"]).replace("@PAD@", "x" * step.gen["pad"])
    elif step.text is not None:
        text = step.text
    elif bytes(step.body):
        # As the recording sent it: one answer repeats the body to the letter.
        text = json.dumps(json.loads(bytes(step.body)))
    else:
        return None
    return _filled(text, captured).encode()


def _headers(step: RecordedRequest, captured: dict[str, Any], *, has_body: bool) -> dict[str, str]:
    headers = {"accept": "application/json", "user-agent": "golden/1.0"}
    if has_body:
        headers["content-type"] = "application/json"
    if step.user == "bad":
        headers["authorization"] = "Bearer nonsense"
    elif step.user.startswith("$"):
        headers["authorization"] = f"Bearer {_filled(step.user, captured)}"
    elif step.user != "anon":
        headers["authorization"] = f"Bearer {step.user}-token"
    for name, value in step.headers.items():
        headers.pop(name.lower(), None)
        if value is not None:
            headers[name.lower()] = value
    return headers


def _shown(answered: Answered, compare: Comparison, masks: Masks) -> dict[str, Any]:
    """Return the answer in the form in which answers were recorded."""
    shown: dict[str, Any] = {"status": answered.status, "headers": {}}
    for header in _COMPARED_HEADERS:
        values = answered.values(header)
        if values:
            several = len(values) > 1 or header == "warning"
            shown["headers"][header] = values if several else values[0]
    text = answered.body.decode(errors="replace")
    if compare.watch:
        lines = [json.loads(line) for line in text.splitlines() if line.strip()]
        shown["events"] = masks.over(lines)
    elif "json" in "".join(answered.values("content-type")):
        try:
            tree = json.loads(text)
        except ValueError:
            shown["text"] = text
            return shown
        if tree is not None:
            if compare.pick:
                tree = {place: _picked(tree, place) for place in compare.pick}
            shown["body"] = masks.over(tree)
    elif compare.textlen:
        shown["textlen"] = len(text)
    else:
        shown["text"] = masks.over(text)
    return shown


def _filled(text: str, captured: dict[str, Any]) -> str:
    return _NAMED.sub(lambda match: str(captured.get(match[1], match[0])), text)


def _at(tree: Any, place: str) -> Any:
    for step in place.split("."):
        tree = tree[int(step)] if isinstance(tree, list) else tree[step]
    return tree


def _picked(tree: Any, place: str) -> Any:
    try:
        return _at(tree, place)
    except (LookupError, TypeError, ValueError):
        return None

"""What goes into the core and what comes out: requests, and the four sorts of outcome.

An outcome is an ``Answer`` (send it when its revision is durable), a ``Stream`` (a watch: open it,
send its frames, each when durable), a ``Relay`` (pass the request on to a node or a pod, and what
comes back as it comes) or an ``Ask`` (make this call outside, put the reply into
``request.answers`` and handle the same request again). A replay makes the same object, because all
that is minted on the way (uid, name suffix, time) is kept in ``request.memo``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from windtunnel.machinery.admission import Ask, Reply, User
from windtunnel.machinery.errors import ApiError

BODY_LIMIT: Final = 3_145_728
"""A longer body is refused once it is known who asks; the edge hands over at most a byte more."""


@dataclass(slots=True)
class Request:
    """One request, headers lower-case. Only ``answers`` and ``memo`` change while it is handled."""

    method: str
    path: str
    """Percent-decoded, without query."""
    query: list[tuple[str, str]] = field(default_factory=list)
    headers: Mapping[str, str] = field(default_factory=dict)
    """At least: authorization, user-agent, accept, content-type, if-none-match, impersonate-*."""
    body: bytes = b""
    content_type: str | None = None
    """None: the header was not sent."""
    accept: str = ""
    user: User | None = None
    """None: to be found out from the credentials; set only by in-process callers."""
    certificate: tuple[str, tuple[str, ...]] | None = None
    """Common name and organisations of a client certificate that the edge has verified."""
    answers: dict[str, Reply] = field(default_factory=dict)
    memo: dict[str, Any] = field(default_factory=dict)
    trusted: bool = False
    """Written by a part of ours: validation is skipped, admission and field ownership are not."""

    def parameter(self, name: str, default: str = "") -> str:
        """Return the first query parameter of this name."""
        for key, value in self.query:
            if key == name:
                return value
        return default


@dataclass(slots=True)
class Answer:
    """A whole answer; it may leave once ``revision`` is durable (0: at once)."""

    status: int
    body: bytes
    content_type: str = "application/json"
    headers: list[tuple[str, str]] = field(default_factory=list)
    revision: int = 0
    awaits: int = 0
    """A refusal only because this revision has not come yet: wait a little for it, then ask again;
    what comes then counts. 0: final."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One piece of a stream: send it when ``revision`` is durable; after ``last`` close."""

    revision: int
    body: bytes
    last: bool = False


class Stream(Protocol):
    """A watch that has been admitted. The edge opens it, sends frames in order and closes it."""

    content_type: str
    headers: list[tuple[str, str]]
    timeout_seconds: float
    """When the edge ends the stream, counted from its opening."""

    def open(self, deliver: Callable[[Frame], None]) -> None:
        """Deliver what is due now (inside this call), then every change (inside its write)."""

    def bookmark(self, revision: int) -> Frame | None:
        """Return a bookmark saying all up to ``revision`` was sent; None: none is wanted."""

    def close(self) -> None:
        """Deliver nothing any more; harmless when closed."""


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a relay goes."""

    host: str
    port: int
    secure: bool
    """By TLS, with the certificate by which kubelets know the API server."""

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Relay:
    """A request that has been admitted and goes on to a node or a pod."""

    destination: Destination
    target: str
    """Path and query as they go on the wire."""
    upgrade: bool
    """What follows is no HTTP: the two connections are joined."""
    unreachable: Callable[[str], ApiError]
    """Makes the refusal from what went wrong on the way there."""
    refused: Callable[[int, str], ApiError] | None = None
    """Makes the refusal from an error's status and text; None: it is passed on as it came."""
    content_type: str = ""
    """What the answer is, whatever the other side calls it; "": as it says."""


Outcome = Answer | Ask | Stream | Relay

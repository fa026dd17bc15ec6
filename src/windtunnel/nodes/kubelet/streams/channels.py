"""The WebSocket sub-protocols that carry several streams: a channel number before each message.

They differ in how a message is written (bytes, or base64 in a text), in what the error channel
carries (a Status as JSON since v4, a text before), and in whether the client can say that a channel
ends (since v5).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

STDIN, STDOUT, STDERR, ERROR, RESIZE = range(5)
_CLOSE: Final = 255


@dataclass(frozen=True, slots=True)
class Message:
    """Some bytes of a channel, or its end."""

    channel: int
    payload: bytes = b""
    last: bool = False


@dataclass(frozen=True, slots=True)
class Dialect:
    """One sub-protocol."""

    name: str
    text: bool = False
    """Messages are texts: a digit, then base64."""
    statuses: bool = False
    """How it ended is told as a Status."""
    closes: bool = False
    """A client can end a channel."""

    def written(self, channel: int, payload: bytes) -> bytes | str:
        """Return a message as it is sent."""
        if self.text:
            return str(channel) + base64.b64encode(payload).decode()
        return bytes((channel,)) + payload

    def read(self, message: bytes | str) -> Message | None:
        """Return what a client has sent; None where it makes no sense."""
        raw = message.encode() if isinstance(message, str) else message
        if not raw:
            return None
        if self.text:
            try:
                return Message(int(raw[:1]), base64.b64decode(raw[1:], validate=True))
            except (ValueError, binascii.Error):
                return None
        if self.closes and raw[0] == _CLOSE:
            return Message(raw[1], last=True) if len(raw) > 1 else None
        return Message(raw[0], raw[1:])


DIALECTS: Final = (
    Dialect("v5.channel.k8s.io", statuses=True, closes=True),
    Dialect("v4.channel.k8s.io", statuses=True),
    Dialect("v4.base64.channel.k8s.io", text=True, statuses=True),
    Dialect("v3.channel.k8s.io"),
    Dialect("v2.channel.k8s.io"),
    Dialect("channel.k8s.io"),
    Dialect("base64.channel.k8s.io", text=True),
)
_UNNAMED: Final = Dialect("")
"""What is spoken with a client that names none."""


def choose(offered: Iterable[str], spoken: Iterable[Dialect] = DIALECTS) -> Dialect | None:
    """Return the first sub-protocol of a client that is spoken here; None: there is none."""
    known = {dialect.name: dialect for dialect in spoken}
    wanted = [name for name in offered if name]
    if not wanted:
        return _UNNAMED
    return next((known[name] for name in wanted if name in known), None)

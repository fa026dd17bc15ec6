"""The log: one line an event, ``key=value`` pairs, for people and ``grep`` alike.

A line says when, how bad, which part, what happened, and then whatever else is worth knowing.
Somebody else decides where lines go and what time it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final, Literal

Severity = Literal["info", "warning", "error"]

_PLAIN: Final = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/@+,~%"
)


class Log:
    """Writes lines to ``write``, stamped by ``stamp``."""

    def __init__(self, write: Callable[[str], object], stamp: Callable[[], str]) -> None:
        self._write, self._stamp = write, stamp

    def info(self, part: str, event: str, **fields: object) -> None:
        """Write that something happened as it should."""
        self._line("info", part, event, fields)

    def warning(self, part: str, event: str, **fields: object) -> None:
        """Write that something is not as it should be, and goes on all the same."""
        self._line("warning", part, event, fields)

    def error(self, part: str, event: str, **fields: object) -> None:
        """Write that something failed."""
        self._line("error", part, event, fields)

    def _line(self, level: Severity, part: str, event: str, fields: dict[str, object]) -> None:
        pairs = {"time": self._stamp(), "level": level, "part": part, "event": event, **fields}
        self._write(" ".join(f"{key}={_text(value)}" for key, value in pairs.items()) + "\n")


def _text(value: object) -> str:
    text = str(value)
    return text if text and _PLAIN.issuperset(text) else json.dumps(text, ensure_ascii=False)

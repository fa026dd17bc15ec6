"""Scalars that Go types read by rules of their own: times, base64, whole numbers.

Each function returns the value as the real server would write it back, or raises ``Unreadable``
with the Go text. Accepted texts repeat, so they are cached, but for those of times with fractions:
no two are alike, and nearly all are written as they are to be.
"""

from __future__ import annotations

import base64
import binascii
import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from windtunnel.machinery.quantity import MalformedQuantity
from windtunnel.machinery.quantity import canonical as canonical_quantity

_TIME: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)"
)
_CANONICAL_MICRO: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
_TIME_LAYOUT: Final = "2006-01-02T15:04:05Z07:00"
_MICRO_LAYOUT: Final = "2006-01-02T15:04:05.000000Z07:00"
_LAYOUT_PARTS: Final = re.compile(r"2006|01|02|15|04|05|\.000000|Z07:00|.")
_PART_SHAPES: Final = {
    "2006": r"\d{4}", "Z07:00": r"Z|[+-]\d\d:\d\d", ".000000": r"\.\d{6}",
    "01": r"\d\d", "02": r"\d\d", "15": r"\d\d", "04": r"\d\d", "05": r"\d\d(\.\d+)?",
}  # fmt: skip
_BASE64: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_RANGES: Final = (
    ("month", 2, 1, 12), ("day", 3, 1, 31), ("hour", 4, 0, 23), ("minute", 5, 0, 59),
    ("second", 6, 0, 59),
)  # fmt: skip

INTEGER_LIMITS: Final = {
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
}
LARGEST_PLAIN_NUMBER: Final = 1e21
"""Whole numbers below this are printed without a fraction or exponent."""


class Unreadable(ValueError):
    """A text that its type cannot be read from; the message is Go's."""


@lru_cache(maxsize=4096)
def canonical_time(text: str) -> str:
    """Return an RFC 3339 time in UTC, whole seconds."""
    moment = _moment(text, _TIME_LAYOUT)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")


def canonical_micro_time(text: str) -> str:
    """Return an RFC 3339 time in UTC with six digits of fraction, which the text must have too."""
    if _CANONICAL_MICRO.fullmatch(text) is not None:
        try:
            datetime.fromisoformat(text)
        except ValueError:
            pass  # what is wrong with it is said below
        else:
            return text
    found = _TIME.fullmatch(text)
    if found is not None and len(found.group(7) or "") != 6:
        raise Unreadable(_time_mistake(text, _MICRO_LAYOUT))
    return _moment(text, _MICRO_LAYOUT).strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


def _moment(text: str, layout: str) -> datetime:
    found = _TIME.fullmatch(text)
    if found is None:
        raise Unreadable(_time_mistake(text, layout))
    for name, group, low, high in _RANGES:
        if not low <= int(found.group(group)) <= high:
            raise Unreadable(f'parsing time "{text}": {name} out of range')
    zone = found.group(8)
    offset = timedelta()
    if zone != "Z":
        offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[4:6]))
        offset = -offset if zone[0] == "-" else offset
    year, month, day, hour, minute, second = (int(found.group(part)) for part in range(1, 7))
    micros = int((found.group(7) or "0")[:6].ljust(6, "0"))
    try:
        return datetime(year, month, day, hour, minute, second, micros, UTC) - offset
    except (ValueError, OverflowError):
        raise Unreadable(f'parsing time "{text}": day out of range') from None


def _time_mistake(text: str, layout: str) -> str:
    """Say what Go's parser says: the rest of the text, and the part of the layout it misses."""
    rest = text
    for part in _LAYOUT_PARTS.findall(layout):
        found = re.match(_PART_SHAPES.get(part, re.escape(part)), rest)
        if found is None:
            return f'parsing time "{text}" as "{layout}": cannot parse "{rest}" as "{part}"'
        rest = rest[found.end() :]
    return f'parsing time "{text}": extra text: "{rest}"'


@lru_cache(maxsize=1024)
def checked_base64(text: str) -> str:
    """Return the text if it is base64 as Go reads it (padding needed, line ends ignored)."""
    compact = text.replace("\r", "").replace("\n", "")
    try:
        raw = binascii.a2b_base64(compact, strict_mode=True) if compact else b""
    except ValueError:  # binascii.Error, or letters that are not ASCII
        raise Unreadable(f"illegal base64 data at input byte {_base64_mistake(compact)}") from None
    return base64.b64encode(raw).decode()


def _base64_mistake(text: str) -> int:
    """Return the position that Go's decoder complains of: it reads in quartets."""
    filled = 0
    for position, letter in enumerate(text):
        if letter in _BASE64:
            filled = (filled + 1) % 4
        elif letter != "=" or filled < 2:
            return position
        elif filled == 3:
            return position + 1
        elif position + 1 == len(text):
            return len(text)
        else:
            return position + 2 if text[position + 1] == "=" else position
    return len(text) - filled


def settled_quantity(value: Any) -> str:
    """Return the canonical text of a quantity."""
    if value.__class__ is bool or not isinstance(value, (str, int, float)):
        value = "not a quantity"
    try:
        return canonical_quantity(value)
    except MalformedQuantity as mistake:
        raise Unreadable(str(mistake)) from None


def go_kind(value: Any) -> str:
    """Return Go's kind of a decoded JSON value: ``string``, ``map``, ``slice`` …."""
    match value:
        case bool():
            return "bool"
        case str():
            return "string"
        case int():
            return "int64"
        case float():
            return "float64"
        case list():
            return "slice"
    return "map"

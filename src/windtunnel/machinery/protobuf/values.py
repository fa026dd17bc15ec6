"""Values that are no plain messages: scalars, and types that JSON writes in forms of their own."""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from windtunnel.machinery.protobuf import wire
from windtunnel.machinery.tree import Tree, decode

Reader = Callable[[int | bytes], Any]
Special = Callable[[bytes, Callable[[str, bytes], Tree]], Any]
"""Reads a special message; the second argument reads an ordinary message by name."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ZERO_TIME: Final = -62135596800
"""Seconds of year 1: how Go writes a time that is not set."""
_SCHEMA: Final = "JSONSchemaProps"


def as_bytes(raw: int | bytes) -> bytes:
    """Return a value that must have a length (a message, text or bytes)."""
    if isinstance(raw, int):
        raise wire.Malformed("proto: wrong wireType = 0")
    return raw


def as_text(raw: int | bytes) -> str:
    """Return a value that must be text."""
    if isinstance(raw, int):
        raise wire.Malformed("proto: wrong wireType = 0")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise wire.Malformed("a text is not UTF-8") from None


def _as_number(raw: int | bytes) -> int:
    if not isinstance(raw, int):
        raise wire.Malformed("proto: wrong wireType = 2")
    return wire.signed(raw)


def _as_int32(raw: int | bytes) -> int:
    number = _as_number(raw) & 0xFFFF_FFFF
    return number - (1 << 32) if number >= 1 << 31 else number


def _as_float(raw: int | bytes) -> float | int:
    packed = as_bytes(raw)
    if len(packed) != 8:
        raise wire.Malformed("a floating point number has no 8 bytes")
    number: float = struct.unpack("<d", packed)[0]
    if not math.isfinite(number):
        raise wire.Malformed("a floating point number is not finite")
    # JSON has one sort of number; Go writes whole ones without a fraction.
    return int(number) if number.is_integer() and abs(number) < 1e21 else number


SCALARS: Final[dict[str, Reader]] = {
    "string": as_text,
    "bytes": lambda raw: base64.b64encode(as_bytes(raw)).decode(),
    "bool": lambda raw: bool(_as_number(raw)),
    "int": _as_number,
    "int32": _as_int32,
    "int64": _as_number,
    "float64": _as_float,
}


def _parts(body: bytes) -> dict[int, int | bytes]:
    return dict(wire.fields(body))


def _quantity(body: bytes, _: object) -> str:
    return as_text(_parts(body).get(1, b""))


def _moment(body: bytes) -> tuple[datetime, int] | None:
    parts = _parts(body)
    seconds = _as_number(parts.get(1, 0))
    if not parts or seconds == _ZERO_TIME:
        return None
    try:
        return _EPOCH + timedelta(seconds=seconds), _as_number(parts.get(2, 0))
    except OverflowError:
        raise wire.Malformed("a time is out of range") from None


def _time(body: bytes, _: object) -> str | None:
    moment = _moment(body)
    return moment[0].strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0") if moment else None


def _micro_time(body: bytes, _: object) -> str | None:
    moment = _moment(body)
    if moment is None:
        return None
    micros = moment[1] // 1000 % 1_000_000
    return moment[0].strftime(f"%Y-%m-%dT%H:%M:%S.{micros:06d}Z").rjust(27, "0")


def _duration(body: bytes, _: object) -> str:
    """Print a duration as Go does: ``1m30s``, ``1.5s``, ``20ms``."""
    nanos = _as_number(_parts(body).get(1, 0))
    sign, nanos = ("-", -nanos) if nanos < 0 else ("", nanos)
    if nanos < 1_000_000_000:
        for unit, size in (("ms", 1_000_000), ("µs", 1_000), ("ns", 1)):
            if nanos >= size:
                return f"{sign}{_decimal(nanos, size)}{unit}"
        return "0s"
    minutes, rest = divmod(nanos, 60_000_000_000)
    hours, minutes = divmod(minutes, 60)
    text = f"{_decimal(rest, 1_000_000_000)}s"
    if minutes or hours:
        text = f"{minutes}m{text}"
    return f"{sign}{hours}h{text}" if hours else sign + text


def _decimal(amount: int, unit: int) -> str:
    whole, rest = divmod(amount, unit)
    digits = str(rest).rjust(len(str(unit)) - 1, "0").rstrip("0") if rest else ""
    return f"{whole}.{digits}" if digits else str(whole)


def _int_or_string(body: bytes, _: object) -> int | str:
    parts = _parts(body)
    if _as_number(parts.get(1, 0)) == 0:
        return _as_int32(parts.get(2, 0))
    return as_text(parts.get(3, b""))


def _json(body: bytes, _: object) -> Any:
    raw = as_bytes(_parts(body).get(1, b""))
    if not raw:
        return None
    try:
        return decode(raw)
    except ValueError as mistake:
        raise wire.Malformed(f"a field that holds JSON is not JSON: {mistake}") from None
    except RecursionError:
        raise wire.Malformed("a field that holds JSON nests too deep") from None


def _texts(body: bytes, _: object) -> list[str]:
    return [as_text(raw) for _, raw in wire.fields(body)]


def _schema_or_array(body: bytes, message: Callable[[str, bytes], Tree]) -> Any:
    parts = wire.fields(body)
    several = [message(_SCHEMA, as_bytes(raw)) for number, raw in parts if number == 2]
    if several:
        return several
    return next((message(_SCHEMA, as_bytes(raw)) for number, raw in parts if number == 1), None)


def _schema_or_bool(body: bytes, message: Callable[[str, bytes], Tree]) -> Any:
    parts = _parts(body)
    if 2 in parts:
        return message(_SCHEMA, as_bytes(parts[2]))
    return bool(_as_number(parts.get(1, 0)))


def _schema_or_texts(body: bytes, message: Callable[[str, bytes], Tree]) -> Any:
    parts = wire.fields(body)
    schema = next((raw for number, raw in parts if number == 1), None)
    if schema is not None:
        return message(_SCHEMA, as_bytes(schema))
    return [as_text(raw) for number, raw in parts if number == 2]


SPECIALS: Final[dict[str, Special]] = {
    "Quantity": _quantity,
    "Time": _time,
    "MicroTime": _micro_time,
    "Duration": _duration,
    "IntOrString": _int_or_string,
    "RawExtension": _json,
    "FieldsV1": _json,
    "JSON": _json,
    "ItemsList": _texts,
    "JSONSchemaPropsOrArray": _schema_or_array,
    "JSONSchemaPropsOrBool": _schema_or_bool,
    "JSONSchemaPropsOrStringArray": _schema_or_texts,
}

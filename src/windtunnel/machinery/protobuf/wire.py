"""The wire format of protobuf: tags, varints and lengths, with nothing known of any message."""

from __future__ import annotations

VARINT, EIGHT_BYTES, LENGTH, FOUR_BYTES = 0, 1, 2, 5
_LARGEST_VARINT_BITS = 63


class Malformed(ValueError):
    """The bytes are no protobuf message; the text says what is wrong with them."""


def varint(body: bytes, at: int) -> tuple[int, int]:
    """Return the number at a position, and where it ends."""
    value = shift = 0
    while True:
        if at >= len(body):
            raise Malformed("unexpected EOF")
        byte = body[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
        shift += 7
        if shift > _LARGEST_VARINT_BITS:
            raise Malformed("proto: integer overflow")


def signed(value: int) -> int:
    """Read a varint's number as two's complement."""
    return value - (1 << 64) if value >= 1 << 63 else value


def fields(body: bytes) -> list[tuple[int, int | bytes]]:
    """Return (field number, value) of each field in order; numbers are varints, all else bytes."""
    found: list[tuple[int, int | bytes]] = []
    at, end = 0, len(body)
    while at < end:
        tag = body[at]
        at += 1
        if tag > 127:
            tag, at = varint(body, at - 1)
        number, wire_type = tag >> 3, tag & 7
        if number == 0:
            raise Malformed("proto: illegal tag 0")
        if wire_type == VARINT:
            value, at = (body[at], at + 1) if at < end and body[at] < 128 else varint(body, at)
            found.append((number, value))
            continue
        if wire_type == LENGTH:
            size, at = (body[at], at + 1) if at < end and body[at] < 128 else varint(body, at)
        elif wire_type == EIGHT_BYTES:
            size = 8
        elif wire_type == FOUR_BYTES:
            size = 4
        else:
            raise Malformed(f"proto: illegal wireType {wire_type}")
        if at + size > end:
            raise Malformed("unexpected EOF")
        found.append((number, body[at : at + size]))
        at += size
    return found

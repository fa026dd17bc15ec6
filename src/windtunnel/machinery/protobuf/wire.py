"""The wire format of protobuf: tags, varints and lengths, with nothing known of any message."""

from __future__ import annotations

from collections.abc import Iterator

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


def fields(body: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """Yield (field number, wire type, value) of each field in order."""
    at, end = 0, len(body)
    while at < end:
        tag = body[at]
        if tag < 128:
            at += 1
        else:
            tag, at = varint(body, at)
        number, wire_type = tag >> 3, tag & 7
        if number == 0:
            raise Malformed("proto: illegal tag 0")
        value: int | bytes
        if wire_type == LENGTH:
            size, at = varint(body, at)
            value = body[at : at + size]
            at += size
        elif wire_type == VARINT:
            value, at = varint(body, at)
        elif wire_type == EIGHT_BYTES:
            value = body[at : at + 8]
            at += 8
        elif wire_type == FOUR_BYTES:
            value = body[at : at + 4]
            at += 4
        else:
            raise Malformed(f"proto: illegal wireType {wire_type}")
        if at > end:
            raise Malformed("unexpected EOF")
        yield number, wire_type, value

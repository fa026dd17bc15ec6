"""Quantities: ``500m``, ``16Gi``, ``1e3``; exact, and printed as the real server prints them.

A quantity is a whole number of nanos, the finest that Kubernetes keeps, and the notation in which
it was written. It may be larger than any integer of 64 bits; whoever counts in those asks for
``units`` or ``milli``, and gets for such a quantity what the real server counts: the low 64 bits
where it kept a big decimal, mostly 0 where it kept digits and a power of ten.

Texts are few and repeat, so parsing is cached: a known text costs one look-up, and the two
questions that are asked most (``to_milli``, ``to_int``) are answered from a cache too.

Source: k8s.io/apimachinery resource.Quantity, v1.36.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, Literal, TypeVar, cast

Notation = Literal["decimal", "binary", "exponent"]

NANO: Final = 10**9
_LARGEST: Final = 2**63 - 1
MAX_IN_MILLI: Final = _LARGEST // 1000
"""The most units that can be counted in thousandths."""
_MILLI: Final = 10**6
_DIGITS: Final = 1000
"""More are refused, and larger powers of ten: they would cost more than anybody means."""
_FAST_DIGITS: Final = 18
_FAST_BINARY_DIGITS: Final = 14
"""What the real server reads into 64 bits; the rest it reads into a big decimal."""
_WRAPPING_SHIFTS: Final = frozenset({0, 1, 2, 3, 6, 9})
"""Powers of ten by which the real server multiplies at once, the low 64 bits of what comes out;
by others it multiplies step by step and says 0 where that overflows."""

_DECIMAL_SUFFIX: Final = {
    "n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18,
}  # fmt: skip
_BINARY_SUFFIX: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_NAME: Final = {exponent: suffix for suffix, exponent in _DECIMAL_SUFFIX.items()}
_BINARY_NAME: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_SHAPE: Final = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)")

_TEXT_SHAPE: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)

_Answer = TypeVar("_Answer")
_Function = TypeVar("_Function", bound=Callable[..., object])


def _cached(function: _Function) -> _Function:
    return cast(_Function, lru_cache(maxsize=65536, typed=True)(function))


class MalformedQuantity(ValueError):
    """The text is no quantity; the message is the real server's."""


class Quantity:
    """An exact amount. Immutable; equality and order ignore the notation."""

    __slots__ = ("_power", "_text", "nanos", "notation")

    nanos: int
    notation: Notation
    _power: int | None
    _text: str

    def __init__(
        self,
        nanos: int,
        notation: Notation = "decimal",
        *,
        power: int | None = -9,
        text: str = "",
    ) -> None:
        """Make an amount.

        Args:
            nanos: How much.
            notation: How it is written.
            power: The power of ten that the real server counts it in, in 64 bits; None where it
                keeps a big decimal.
            text: How the server prints it, where that is known.
        """
        object.__setattr__(self, "nanos", nanos)
        object.__setattr__(self, "notation", notation)
        object.__setattr__(self, "_power", power)
        object.__setattr__(self, "_text", text)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Quantity is immutable: {name}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.nanos == other.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)

    def __lt__(self, other: Quantity) -> bool:
        return self.nanos < other.nanos

    def __le__(self, other: Quantity) -> bool:
        return self.nanos <= other.nanos

    def __gt__(self, other: Quantity) -> bool:
        return self.nanos > other.nanos

    def __ge__(self, other: Quantity) -> bool:
        return self.nanos >= other.nanos

    def __bool__(self) -> bool:
        return self.nanos != 0

    def __add__(self, other: Quantity) -> Quantity:
        """Add; the sum is written like the left side, or like the right where left is zero."""
        return self._sum(other, other.nanos)

    def __sub__(self, other: Quantity) -> Quantity:
        """Subtract; written as ``__add__`` says."""
        return self._sum(other, -other.nanos)

    def _sum(self, other: Quantity, more: int) -> Quantity:
        nanos = self.nanos + more
        if not self.nanos:
            notation, power = other.notation, other._power
        else:
            notation, power = self.notation, self._power
        if self._power is None or other._power is None:
            power = None
        elif self.nanos and more:
            power = min(self._power, other._power)
            largest = max(abs(self.nanos), abs(more), abs(nanos))
            if largest > _LARGEST and largest // 10 ** (9 + power) > _LARGEST:
                power = None
        return Quantity(nanos, notation, power=power)

    def __str__(self) -> str:
        """Return the canonical text, the one that the server stores and prints."""
        text = self._text
        if not text:
            text = _canonical(self.nanos, self.notation)
            object.__setattr__(self, "_text", text)
        return text

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"

    @property
    def units(self) -> int:
        """Whole units in 64 bits, rounded away from zero."""
        return self._in_64_bits(_away_from_zero(self.nanos, NANO), 0)

    @property
    def milli(self) -> int:
        """Thousandths in 64 bits, rounded away from zero."""
        return self._in_64_bits(_away_from_zero(self.nanos, _MILLI), 3)

    def in_milli(self) -> Quantity:
        """Return the quantity without what is finer than a thousandth, rounded away from zero."""
        if not self.nanos % _MILLI:
            return self
        power = None if self._power is None else max(self._power, -3)
        return Quantity(_away_from_zero(self.nanos, _MILLI) * _MILLI, self.notation, power=power)

    def _in_64_bits(self, number: int, shift: int) -> int:
        """Return a number as the real server counts it: ``power`` raised by ``shift``."""
        if -_LARGEST <= number <= _LARGEST:
            return number
        if self._power is not None and self._power + shift not in _WRAPPING_SHIFTS:
            return 0
        return (number + _LARGEST + 1) % 2**64 - _LARGEST - 1


ZERO: Final = Quantity(0)


def _away_from_zero(nanos: int, unit: int) -> int:
    return -(-nanos // unit) if nanos >= 0 else nanos // unit


def _canonical(nanos: int, notation: Notation) -> str:
    if nanos == 0:
        return "0"
    if notation == "binary" and abs(nanos) >= 1024 * NANO and nanos % NANO == 0:
        amount, steps = nanos // NANO, 0
        while amount % 1024 == 0:
            amount, steps = amount // 1024, steps + 1
        return f"{amount}{_BINARY_NAME[steps] if steps < len(_BINARY_NAME) else ''}"
    amount, exponent = nanos, -9
    while amount % 1000 == 0:
        amount, exponent = amount // 1000, exponent + 3
    if notation == "exponent":
        return f"{amount}e{exponent}" if exponent else str(amount)
    return f"{amount}{_DECIMAL_NAME.get(exponent, '')}"


@_cached
def parse(value: str | int | float) -> Quantity:
    """Return the quantity that a text (or a JSON number) means.

    Raises:
        MalformedQuantity: It means none.
    """
    text = value.strip() if isinstance(value, str) else _number_text(value)
    shape = _SHAPE.fullmatch(text)
    if not text or shape is None:
        raise MalformedQuantity(_TEXT_SHAPE)
    sign, number, fraction, suffix = shape.groups()
    fraction = fraction or ""
    if not number and not fraction:
        if suffix in _DECIMAL_SUFFIX or suffix in _BINARY_SUFFIX:
            return ZERO
        raise MalformedQuantity("unable to parse quantity's suffix")
    if len(number) + len(fraction) > _DIGITS:
        raise MalformedQuantity("unable to parse numeric part of quantity")
    digits = int((number or "0") + fraction)
    written = (number.lstrip("0") or "0") + fraction
    notation: Notation
    power: int | None
    if suffix in _BINARY_SUFFIX:
        notation, bits = "binary", _BINARY_SUFFIX[suffix]
        nanos = min(_shifted(digits << bits, 9 - len(fraction)), _LARGEST * NANO)
        fast = not fraction and len(written) + bits * 3 // 10 <= _FAST_BINARY_DIGITS
        power = 0 if fast else None
        kept = fast and digits % 8 != 0
        if 0 < nanos < NANO:
            notation = "decimal"
    else:
        if suffix in _DECIMAL_SUFFIX:
            notation, exponent = "decimal", _DECIMAL_SUFFIX[suffix]
        else:
            notation, exponent = "exponent", _exponent(suffix)
        power = exponent - len(fraction)
        nanos = _shifted(digits, power + 9)
        kept = power % 3 == 0 and written[0] != "0" and not written.endswith("000")
        if len(written) > _FAST_DIGITS or power < -9:
            power = None
    # What is nearly canonical the real server prints as it was written: "+4", "5.123".
    printed = text if kept and power is not None else ""
    return Quantity(-nanos if sign == "-" else nanos, notation, power=power, text=printed)


def _exponent(suffix: str) -> int:
    try:
        exponent = int(suffix[1:] if suffix[0] in "eE" else "")
    except ValueError:
        exponent = _DIGITS + 1
    if abs(exponent) > _DIGITS:
        raise MalformedQuantity("unable to parse quantity's suffix")
    return exponent


def _number_text(value: float) -> str:
    text = repr(value)
    return text[:-2] if text.endswith(".0") else text


def _shifted(digits: int, power: int) -> int:
    """Return digits times ten to the power, what is lost of it rounded up."""
    factor: int = 10 ** abs(power)
    return digits * factor if power >= 0 else -(-digits // factor)


@_cached
def to_milli(value: str | int | float) -> int:
    """Return a quantity's thousandths in 64 bits, rounded up."""
    return parse(value).milli


@_cached
def to_int(value: str | int | float) -> int:
    """Return a quantity's whole units in 64 bits, rounded up."""
    return parse(value).units


@_cached
def canonical(value: str | int | float) -> str:
    """Return the text under which the server stores a quantity: ``0.5`` is ``500m``."""
    return str(parse(value))


def compare(left: str | int | float, right: str | int | float) -> int:
    """Return -1, 0 or 1 as left is less than, equal to or greater than right."""
    a, b = parse(left).nanos, parse(right).nanos
    return (a > b) - (a < b)

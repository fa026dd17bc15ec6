"""Where uids and random ends of names come from.

A live cluster mints from ``secrets``; a simulated one from its seed, so that the same requests make
the same objects byte for byte. Random bytes are drawn many at once: one system call a draw would
cost more than the rest of a create's metadata.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Final, Protocol

from windtunnel.kernel import Chance
from windtunnel.machinery.names import SUFFIX_LENGTH, SUFFIX_LETTERS

_POOL_BYTES: Final = 4096
_UID_BYTES: Final = 16
_FAIR: Final = 256 - 256 % len(SUFFIX_LETTERS)
"""A byte from here on would favour the first letters."""

Draw = Callable[[int], bytes]
"""Returns so many random bytes."""


class Mint(Protocol):
    """Makes what must be unlike anything made before."""

    def uid(self) -> str:
        """Return a random uid."""

    def suffix(self) -> str:
        """Return five letters and digits that make a name unlikely to be taken."""


def live_mint() -> Mint:
    """Return the mint of a live cluster."""
    return _Drawn(secrets.token_bytes, secrets.token_bytes)


def seeded_mint(chance: Chance) -> Mint:
    """Return the mint of a simulated cluster: same seed, same uids and names."""
    return _Drawn(chance.stream("apiserver/uid").bytes, chance.stream("apiserver/suffix").bytes)


class _Pool:
    """Random bytes in store."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._bytes = b""
        self._used = 0

    def take(self, count: int) -> bytes:
        start, end = self._used, self._used + count
        if end > len(self._bytes):
            self._bytes, start, end = self._draw(_POOL_BYTES), 0, count
        self._used = end
        return self._bytes[start:end]


class _Drawn:
    """Mints from two sources of bytes, so that one more name changes no uid."""

    def __init__(self, uids: Draw, suffixes: Draw) -> None:
        self._uids, self._suffixes = _Pool(uids), _Pool(suffixes)

    def uid(self) -> str:
        raw = bytearray(self._uids.take(_UID_BYTES))
        raw[6] = raw[6] & 0x0F | 0x40
        raw[8] = raw[8] & 0x3F | 0x80
        text = raw.hex()
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def suffix(self) -> str:
        made = ""
        while len(made) < SUFFIX_LENGTH:
            for byte in self._suffixes.take(SUFFIX_LENGTH - len(made)):
                if byte < _FAIR:
                    made += SUFFIX_LETTERS[byte % len(SUFFIX_LETTERS)]
        return made

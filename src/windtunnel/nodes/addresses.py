"""Addresses of pods, played or run: one for each pod, never two pods with the same.

What pods carry already is taken before the first new address is given, so a restart finds every
address where it was (the real kwok may hand one out twice then).
"""

from __future__ import annotations

import ipaddress
from collections import deque
from collections.abc import Hashable


class Addresses:
    """A pool of IPv4 addresses; freed ones are used again, the longest free first.

    Args:
        cidr: The range. Its first address is never given.
    """

    def __init__(self, cidr: str) -> None:
        network = ipaddress.IPv4Network(cidr)
        self._first = int(network.network_address) + 1
        self._end = int(network.broadcast_address) + 1
        self._next = self._first
        self._free: deque[int] = deque()
        self._owner: dict[int, Hashable] = {}
        self._given: dict[Hashable, int] = {}

    def of(self, owner: Hashable) -> str | None:
        """Return the owner's address, or None while it has none."""
        number = self._given.get(owner)
        return None if number is None else _text(number)

    def give(self, owner: Hashable) -> str:
        """Return the owner's address, a new one where it has none.

        Raises:
            ValueError: every address is taken.
        """
        number = self._given.get(owner)
        if number is None:
            number = self._take_next()
            self._owner[number] = owner
            self._given[owner] = number
        return _text(number)

    def note(self, owner: Hashable, address: str) -> bool:
        """Take note that the owner carries ``address`` already.

        Returns:
            Whether it may keep it: False when another owner was noted with the same one.
        """
        if self.of(owner) == address:
            return True
        try:
            number = int(ipaddress.IPv4Address(address))
        except ValueError:
            return True
        holder = self._owner.setdefault(number, owner)
        if holder != owner:
            return False
        self._given[owner] = number
        return True

    def free(self, owner: Hashable) -> None:
        """Give the owner's address back; harmless where it has none."""
        number = self._given.pop(owner, None)
        if number is not None:
            del self._owner[number]
            if self._first <= number < self._next:
                self._free.append(number)

    def _take_next(self) -> int:
        while self._free:
            number = self._free.popleft()
            if number not in self._owner:
                return number
        while self._next < self._end:
            number = self._next
            self._next += 1
            if number not in self._owner:
                return number
        raise ValueError("every pod address is taken")


def _text(number: int) -> str:
    return f"{number >> 24}.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"

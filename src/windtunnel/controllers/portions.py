"""Numbers that may be given as percentages of another one."""

from __future__ import annotations

import math


def portion(value: int | str | None, total: int, *, up: bool) -> int:
    """Return a number or percentage of ``total``, rounded up or down."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    percent = int(value.rstrip("%"))
    return math.ceil(percent * total / 100) if up else math.floor(percent * total / 100)

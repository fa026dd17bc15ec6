"""Durations as Go prints them."""

from __future__ import annotations


def spoken(seconds: float) -> str:
    """Print a duration, cut to the millisecond: ``250ms``, ``1.234s``, ``1m20s``, ``0s``."""
    millis = int(seconds * 1000)
    if millis <= 0:
        return "0s"
    if millis < 1000:
        return f"{millis}ms"
    hours, rest = divmod(millis, 3_600_000)
    minutes, left = divmod(rest, 60_000)
    text = f"{left / 1000:.3f}".rstrip("0").rstrip(".") + "s"
    if hours:
        return f"{hours}h{minutes}m{text}"
    return f"{minutes}m{text}" if minutes else text

"""Time stamps of API objects: RFC 3339 texts, read and written.

Times inside are seconds since the epoch as a float. A micro text is rounded to the nearest
microsecond, for a float of our century is up to a quarter of one off: what was read prints as it
was.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache
from time import gmtime, strftime
from typing import Final

_FORM: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII
)


@lru_cache(maxsize=4096)  # The objects of one moment carry the same few texts.
def parse_time(text: str) -> float:
    """Return the seconds since the epoch that an RFC 3339 text means.

    Raises:
        ValueError: The text is no RFC 3339 time.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not an RFC 3339 time")
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    whole = datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()
    shift = int(match[9] or 0) * 3600 + int(match[10] or 0) * 60
    return whole + float(match[7] or 0) - (-shift if match[8] == "-" else shift)


def time_text(seconds: float) -> str:
    """Print ``2026-01-31T08:00:00Z``: how API objects write a Time (whole seconds, cut)."""
    return _second(int(seconds))


def micro_time_text(seconds: float) -> str:
    """Print ``2026-01-31T08:00:00.000000Z``: how leases and events write a MicroTime."""
    micros = round(seconds * 1_000_000)
    return f"{_second(micros // 1_000_000)[:-1]}.{micros % 1_000_000:06d}Z"


@lru_cache(maxsize=256)  # A busy second is written down by thousands of objects.
def _second(whole: int) -> str:
    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(whole))

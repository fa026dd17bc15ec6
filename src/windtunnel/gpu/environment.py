"""Settings of agents in the environment, under the names that the operator's chart gives them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from windtunnel.errors import UsageError

RESERVATION_NAMESPACE: Final = "runai-reservation"
"""Where pods hold GPUs for others."""
_LARGEST_PORT: Final = 65535
_TRUE: Final = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_SPAN: Final = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|ms|s|m|h)")
_UNITS: Final = {
    "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0,
}  # fmt: skip


def require(environment: Mapping[str, str], name: str) -> str:
    """Return what the variable says.

    Raises:
        UsageError: it is not set, or empty.
    """
    value = environment.get(name)
    if not value:
        raise UsageError(f"{name} is not set")
    return value


def container_root(environment: Mapping[str, str]) -> Path:
    """Return the folder that holds what is mounted into our container.

    That is ``/``, but where a node runs containers as plain processes and tells where it is.
    """
    return Path(environment.get("WINDTUNNEL_ROOT") or "/")


def flag(environment: Mapping[str, str], name: str) -> bool:
    """Say whether the variable is one of the words for true; source: Go's ``ParseBool``."""
    return environment.get(name, "") in _TRUE


def port(environment: Mapping[str, str], name: str, default: int) -> int:
    """Return a number to listen at.

    Raises:
        UsageError: it is none.
    """
    text = environment.get(name) or str(default)
    if not text.isascii() or not text.isdecimal() or int(text) > _LARGEST_PORT:
        raise UsageError(f"{name} is {text!r}, which is no port")
    return int(text)


def seconds(environment: Mapping[str, str], name: str, default: float) -> float:
    """Return a span such as ``1m30s``; the default where it is none, or not above zero."""
    text = environment.get(name, "")
    spans = _SPAN.findall(text)
    if not text or "".join(number + unit for number, unit in spans) != text:
        return default
    total: float = sum(float(number) * _UNITS[unit] for number, unit in spans)
    return total if total > 0 else default

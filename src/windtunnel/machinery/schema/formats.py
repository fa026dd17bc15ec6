"""Formats that a schema may ask of a text; formats that are not known here are not checked.

Source: k8s.io/kube-openapi string formats, v1.36.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from datetime import date
from typing import Final

from windtunnel.machinery.names import dns_label, dns_subdomain
from windtunnel.machinery.schema.values import Unreadable, canonical_time, checked_base64

_UUID: Final = re.compile(r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}")
_HOST: Final = re.compile(
    r"(?=.{1,255}\Z)([a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?)"
    r"(\.[a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?)*"
)
_EMAIL: Final = re.compile(r"[^@\s]+@[^@\s]+")
_URI: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:\S+|/\S*")
_MAC: Final = re.compile(r"([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}")
_DURATION: Final = re.compile(
    r"[-+]?(0|(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)"
    r"((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))*)"
)
_WORDED_DURATION: Final = re.compile(
    r"\d+\s*(ns|nanos?|us|µs|micros?|ms|millis?|s|secs?|m|mins?|h|hrs?|hours?|d|days?|w|wks?|weeks?)"
)


def _readable(read: Callable[[str], object]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            read(text)
        except (Unreadable, ValueError):
            return False
        return True

    return check


def _matches(*shapes: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: any(shape.fullmatch(text) for shape in shapes)


_CHECKS: Final[dict[str, Callable[[str], bool]]] = {
    "date-time": _readable(canonical_time),
    "datetime": _readable(canonical_time),
    "date": _readable(date.fromisoformat),
    "duration": _matches(_DURATION, _WORDED_DURATION),
    "ipv4": _readable(ipaddress.IPv4Address),
    "ipv6": _readable(ipaddress.IPv6Address),
    "cidr": _readable(ipaddress.ip_interface),
    "byte": _readable(checked_base64),
    "uuid": _matches(_UUID),
    "hostname": _matches(_HOST),
    "email": _matches(_EMAIL),
    "uri": _matches(_URI),
    "mac": _matches(_MAC),
    "k8s-short-name": lambda text: not dns_label(text),
    "k8s-long-name": lambda text: not dns_subdomain(text),
}


def fits(format_name: str, text: str) -> bool:
    """Return whether a text has the format."""
    check = _CHECKS.get(format_name)
    return check is None or check(text)

"""Warnings about valid IPv6 addresses that are not written the one recommended way."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

_TEXT = "should be in RFC 5952 canonical format"


def ip_warnings(values: Iterable[str], field: str) -> list[str]:
    """Return the warnings about a list of addresses that stands at ``field``."""
    return [
        text
        for index, value in enumerate(values)
        for text in one_ip_warnings(value, f"{field}[{index}]")
    ]


def one_ip_warnings(value: str, field: str) -> list[str]:
    """Return the warning about one address; what is no address is not judged here."""
    if ":" not in value:
        return []
    try:
        best = str(ipaddress.IPv6Address(value))
    except ValueError:
        return []
    return [] if best == value else [f'{field}: IPv6 address "{value}" {_TEXT} ("{best}")']


def range_warnings(values: Iterable[str], field: str) -> list[str]:
    """Return the warnings about a list of CIDRs that stands at ``field``."""
    return [
        text
        for index, value in enumerate(values)
        for text in one_range_warnings(value, f"{field}[{index}]")
    ]


def one_range_warnings(value: str, field: str) -> list[str]:
    """Return the warning about one CIDR; what is no CIDR is not judged here."""
    if ":" not in value:
        return []
    try:
        best = str(ipaddress.IPv6Network(value))
    except ValueError:
        return []
    return [] if best == value else [f'{field}: IPv6 CIDR value "{value}" {_TEXT} ("{best}")']

"""The table of protobuf messages: which field has which number, name and type.

Field facts: ``n`` JSON name, ``t`` type, ``r`` repeated, ``i`` embedded in its parent, ``p``
pointer, ``oe`` left out of JSON when empty. Recorded from the Go types of v1.36.3.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from windtunnel.machinery.tree import decode


@cache
def _content() -> dict[str, Any]:
    packed = resources.files("windtunnel.machinery.protobuf").joinpath("fields.json.gz")
    content: dict[str, Any] = decode(gzip.decompress(packed.read_bytes()))
    return content


def messages() -> Mapping[str, Mapping[str, Any]]:
    """Return all messages by name, each its field facts by field number (as text)."""
    found: dict[str, dict[str, Any]] = _content()["messages"]
    return found


def message_of(api_version: str, kind: str) -> str | None:
    """Return the message of a kind, or None for a kind that is unknown here."""
    name: str | None = _content()["kinds"].get(f"{api_version}|{kind}")
    return name

"""The hash of a pod template: the same template finds its ReplicaSet or revision again."""

from __future__ import annotations

from typing import Final

import msgspec

from windtunnel.machinery.tree import Tree

_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"


def template_hash(template: Tree, collisions: int | None) -> str:
    """Return the hash of a pod template, in letters and digits that spell nothing.

    Any stable 32-bit hash will do; FNV-1a, as the real one, over sorted JSON instead of its dump.
    """
    text = msgspec.json.encode(template, order="deterministic")
    if collisions is not None:
        text += collisions.to_bytes(8, "little")
    value = 0x811C9DC5
    for byte in text:
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return "".join(_ALPHABET[ord(digit) % len(_ALPHABET)] for digit in str(value))

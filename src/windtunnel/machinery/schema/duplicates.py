"""Fields that a body gives twice, which a decoded tree cannot tell any more.

Nearly no body has any, and every body that is not read leniently must be asked. So it is asked
cheaply first: a compact body without duplicates has as many keys as the tree that was read from it.
"""

from __future__ import annotations

import json
import re
from typing import Any

from windtunnel.machinery.tree import encode

_KEY_END = b'":'
_SPACED_KEY = re.compile(rb'"\s+:|\\u0022')


def duplicate_fields(body: bytes, tree: Any) -> tuple[str, ...]:
    """Return the paths of fields that a JSON body gives twice; ``tree`` is what it spells."""
    if body.count(_KEY_END) == encode(tree).count(_KEY_END) and not _SPACED_KEY.search(body):
        return ()
    found: list[str] = []
    _look(json.loads(body, object_pairs_hook=_Pairs), "", found)
    return tuple(found)


class _Pairs:
    """An object as it was spelled."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.pairs = pairs


def _look(value: Any, path: str, found: list[str]) -> None:
    if isinstance(value, list):
        for index, part in enumerate(value):
            _look(part, f"{path}[{index}]", found)
    elif isinstance(value, _Pairs):
        seen: set[str] = set()
        for key, part in value.pairs:
            step = f"{path}.{key}" if path else key
            if key in seen:
                found.append(step)
            seen.add(key)
            _look(part, step, found)

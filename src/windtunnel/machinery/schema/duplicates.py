"""Fields that a body gives twice, which a decoded tree cannot tell any more.

Nearly no body has any, and every body that is not read leniently must be asked. So it is asked
cheaply first: a compact body without duplicates has as many keys as the tree that was read from it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
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


def texts_in_order(body: bytes, duplicates: Sequence[str], unknown: Sequence[str]) -> list[str]:
    """Return what is said of duplicate and unknown fields, in the order of the document."""
    doubled = [f'duplicate field "{path}"' for path in duplicates]
    strange = [f'unknown field "{path}"' for path in unknown]
    if not doubled or not strange:
        return doubled + strange
    order: list[str] = []
    _walk(json.loads(body, object_pairs_hook=_Pairs), "", order)
    places = {path: place for place, path in enumerate(order)}
    told = [*zip(duplicates, doubled, strict=True), *zip(unknown, strange, strict=True)]
    told.sort(key=lambda pair: places.get(pair[0], len(order)))
    return [text for _, text in told]


def _walk(value: Any, path: str, order: list[str]) -> None:
    """List the fields in the order of the document; a repeated one counts where it is repeated."""
    if isinstance(value, list):
        for index, part in enumerate(value):
            _walk(part, f"{path}[{index}]", order)
    elif isinstance(value, _Pairs):
        for key, part in value.pairs:
            step = f"{path}.{key}" if path else key
            order.append(step)
            _walk(part, step, order)


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

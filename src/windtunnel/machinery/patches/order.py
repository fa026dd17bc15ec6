"""In which order the items of a merged list stand.

Items that the patch names stand as the patch names them; the others stand as they stood on the
server; the two runs are woven together by the order on the server as far as it knows both.

Source: k8s.io/apimachinery strategicpatch, v1.36.
"""

from __future__ import annotations

from typing import Any

from windtunnel.machinery.patches.refusals import DirectiveMistake, go_text
from windtunnel.machinery.tree import Tree


def identity(item: Any, key: str) -> Any:
    """Return what identifies an item: the value of its merge key, or a scalar itself.

    Raises:
        DirectiveMistake: An object lacks its merge key.
    """
    if not key:
        return item
    if not isinstance(item, dict) or key not in item:
        raise DirectiveMistake(f"map: {go_text(item)} does not contain declared merge key: {key}")
    return item[key]


def has(items: list[Any], item: Any) -> bool:
    """Return whether a list of scalars has this one; true is not 1."""
    return any(
        other == item and isinstance(other, bool) == isinstance(item, bool) for other in items
    )


def _position(items: list[Any], item: Any, key: str) -> int:
    wanted = identity(item, key)
    for position, other in enumerate(items):
        if (other.get(key) if key and isinstance(other, dict) else other) == wanted:
            return position
    return -1


def by_patch_order(merged: list[Any], wanted: list[Any], server: list[Any], key: str) -> list[Any]:
    """Return the merged items in order; ``wanted`` names items, ``server`` is the old list."""
    named: list[tuple[int, Any]] = []
    others: list[tuple[int, Any]] = []
    for item in merged:
        place = _position(wanted, item, key)
        if place < 0:
            others.append((_position(server, item, key), item))
        else:
            named.append((place, item))
    named.sort(key=_place)
    others.sort(key=lambda pair: pair[0] if pair[0] >= 0 else len(server))
    woven: list[Any] = []
    next_other = 0
    for index, (_, item) in enumerate(named):
        if next_other == len(others):
            return woven + [item for _, item in named[index:]]
        after = _position(server, item, key)
        while next_other < len(others) and 0 <= others[next_other][0] < after:
            woven.append(others[next_other][1])
            next_other += 1
        woven.append(item)
    return woven + [item for _, item in others[next_other:]]


def _place(pair: tuple[int, Any]) -> int:
    return pair[0]


def in_order(patch: list[Any], wanted: list[Any], key: str) -> None:
    """Check that a patch list agrees with the order that is given for it.

    Raises:
        DirectiveMistake: An item is not named there, or stands elsewhere.
    """
    kept: list[Tree | Any] = [
        item for item in patch if not (isinstance(item, dict) and "$patch" in item)
    ]
    places = [_position(wanted, item, key) for item in kept]
    if -1 in places or places != sorted(places):
        raise DirectiveMistake(
            f"The order in patch list:\n{go_text(patch)}\n doesn't match $setElementOrder list:\n"
            f"{go_text(wanted)}\n"
        )

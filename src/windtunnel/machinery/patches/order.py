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
    named = [(_position(wanted, item, key), item) for item in merged]
    left = sorted(
        (item for place, item in named if place < 0), key=lambda item: _rank(server, item, key)
    )
    right = [item for _, item in sorted((pair for pair in named if pair[0] >= 0), key=_place)]
    woven: list[Any] = []
    while left and right:
        before, after = _position(server, left[0], key), _position(server, right[0], key)
        woven.append((left if 0 <= before < after else right).pop(0))
    return woven + left + right


def _place(pair: tuple[int, Any]) -> int:
    return pair[0]


def _rank(server: list[Any], item: Any, key: str) -> int:
    place = _position(server, item, key)
    return place if place >= 0 else len(server)


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

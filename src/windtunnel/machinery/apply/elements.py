"""Path elements: how a set of fields names a field or a list item, and how a conflict prints them.

``f:name`` is a field, ``k:{"name":"c"}`` an item of a keyed list, ``v:"x"`` an item of a set.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from windtunnel.machinery.schema.structure import MISSING, Structure
from windtunnel.machinery.tree import decode, encode

NameOf = Callable[[Any], str | None]
"""Names a list item; None for an item that has no name (it lacks a key)."""

_MOST_REMEMBERED = 4096


def item_name(structure: Structure) -> NameOf | None:
    """Return what names the items of a list; None for a list that is one value."""
    made: NameOf | None
    if "item_name" in structure.compiled:
        made = structure.compiled["item_name"]
        return made
    if structure.list_type == "set":
        made = _set_name
    elif structure.list_type == "map":
        made = _key_name(structure)
    else:
        made = None
    structure.compiled["item_name"] = made
    return made


def _set_name(item: Any) -> str | None:
    if item is None or isinstance(item, (dict, list)):
        return None
    return f"v:{encode(item).decode()}"


def _key_name(structure: Structure) -> NameOf:
    keys = tuple(sorted(structure.map_keys))
    fields = structure.items.fields if structure.items is not None else {}
    defaults = {key: fields[key].default if key in fields else MISSING for key in keys}
    remembered: dict[Any, str] = {}
    only = keys[0] if len(keys) == 1 else None

    def name(item: Any) -> str | None:
        if item.__class__ is not dict:
            return None
        if only is not None:
            values: tuple[Any, ...] = (item.get(only, defaults[only]),)
        else:
            values = tuple(item.get(key, defaults[key]) for key in keys)
        try:
            known = remembered.get(values)
        except TypeError:
            return None
        if known is not None:
            return known
        if MISSING in values:
            return None
        text = f"k:{encode(dict(zip(keys, values, strict=True))).decode()}"
        if len(remembered) >= _MOST_REMEMBERED:
            remembered.clear()
        remembered[values] = text
        return text

    return name


def path_text(path: tuple[str, ...]) -> str:
    """Print a path as conflicts do: ``.spec.containers[name="c"].image``."""
    return "".join(map(_element_text, path))


def _element_text(element: str) -> str:
    kind, _, rest = element.partition(":")
    match kind:
        case "f":
            return f".{rest}"
        case "k":
            keys = decode(rest)
            parts = ",".join(f"{key}={encode(value).decode()}" for key, value in keys.items())
            return f"[{parts}]"
        case "v":
            return f"[={rest}]"
    return f"[{rest}]"

"""Paths into an object, as stages write them, compiled to closures.

``status.phase`` walks maps. ``[key]`` picks an entry: of a map by its key (which may hold dots), of
a list the item whose ``type`` or ``name`` is the key. ``[*]`` stands for every item of a list.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Path = Callable[[Any], list[Any]]
"""Returns the values found, none of them None; an empty list where the way ends early."""

_SEGMENT = re.compile(r"\[([^\[\]]+)\]|([^.\[\]]+)")
_WHOLE = re.compile(r"[^.\[\]]+(\[[^\[\]]+\]|\.[^.\[\]]+)*")


def split(text: str) -> list[tuple[str, bool]]:
    """Return the steps of a path; True marks those that were in brackets.

    Raises:
        ValueError: ``text`` is not a path.
    """
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"not a path: {text!r}")
    return [(match[1] or match[2], match[1] is not None) for match in _SEGMENT.finditer(text)]


def compile_value(text: str) -> Callable[[Any], Any]:
    """Return the function that finds the first value ``text`` names, or None.

    Raises:
        ValueError: ``text`` is not a path.
    """
    steps = split(text)
    if any(bracketed for _, bracketed in steps):
        path = compile_path(text)
        return lambda tree: next(iter(path(tree)), None)
    return _plain_value([name for name, _ in steps])


def is_single(text: str) -> bool:
    """Whether a path can name one value at most.

    Raises:
        ValueError: ``text`` is not a path.
    """
    return not any(bracketed for _, bracketed in split(text))


def compile_path(text: str) -> Path:
    """Return the function that finds what ``text`` names.

    Raises:
        ValueError: ``text`` is not a path.
    """
    steps = split(text)
    if is_single(text):
        value = _plain_value([name for name, _ in steps])
        return lambda tree: [] if (found := value(tree)) is None else [found]

    first = next(place for place, (_, bracketed) in enumerate(steps) if bracketed)
    lead, rest = _plain_value([name for name, _ in steps[:first]]), steps[first:]

    def find(tree: Any) -> list[Any]:
        start = lead(tree)
        if start is None:
            return []  # as nearly always: most pods have no label that a stage looks for
        found = [start]
        for name, bracketed in rest:
            found = [value for each in found for value in _enter(each, name, bracketed)]
        return found

    return find


def _plain_value(names: list[str]) -> Callable[[Any], Any]:
    def find(tree: Any) -> Any:
        for name in names:
            if not isinstance(tree, dict):
                return None
            tree = tree.get(name)
        return tree

    return find


def _enter(value: Any, name: str, bracketed: bool) -> list[Any]:
    if isinstance(value, dict):
        entry = value.get(name)
        return [] if entry is None else [entry]
    if isinstance(value, list) and bracketed:
        if name == "*":
            return value
        return [
            item
            for item in value
            if isinstance(item, dict) and name in (item.get("type"), item.get("name"))
        ]
    return []

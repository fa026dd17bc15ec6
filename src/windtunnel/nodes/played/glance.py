"""A glance at an object: the few fields that decide, decoded without the rest.

Most changes of a pod concern nobody who plays it. A glance costs a fifth of decoding the pod, and
gives a tree on which the tests of stages hold just as they would on the whole one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypedDict

from windtunnel.client import Change
from windtunnel.machinery.change import ViewReader
from windtunnel.machinery.tree import Tree
from windtunnel.nodes.played.paths import split


class Glance:
    """Decodes what lies on some paths.

    Args:
        paths: As stages write them; below a bracket everything is decoded.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        wanted: dict[str, Any] = {}
        for path in sorted(paths, key=len, reverse=True):
            _grow(wanted, split(path))
        self._reader: ViewReader[Tree] = ViewReader(_shape(wanted), fleeting=True)

    def __call__(self, change: Change) -> Tree:
        """Return the tree of what is there, to be read."""
        return self._reader.read(change)


def _grow(wanted: dict[str, Any], steps: list[tuple[str, bool]]) -> None:
    """Note one path; of two paths on one way the shorter one, noted later, wins."""
    name, *rest = [name for name, _ in steps[: _plain(steps)]]
    if rest:
        below = wanted.setdefault(name, {})
        if below is not None:
            _grow(below, [(each, False) for each in rest])
    else:
        wanted[name] = None


def _plain(steps: list[tuple[str, bool]]) -> int:
    """Return how many steps come before the first bracket."""
    return next((place for place, (_, bracketed) in enumerate(steps) if bracketed), len(steps))


def _shape(wanted: dict[str, Any] | None) -> Any:
    """Return the type that decodes what is wanted, and skips the rest."""
    if wanted is None:
        return Any
    fields = {name: _shape(below) for name, below in wanted.items()}
    return TypedDict("Seen", fields, total=False) | None  # type: ignore[operator]

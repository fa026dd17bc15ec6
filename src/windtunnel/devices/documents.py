"""YAML as people write it and as Go prints it: one loader, one way to quote."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

import yaml
from yaml.scanner import ScannerError

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_NUMBER: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9][0-9_]*\.?[0-9]*)([eE][-+]?[0-9]+)?")
_DASHED: Final = re.compile(r"[A-Za-z0-9]+(-[A-Za-z0-9]+){3,}")
"""Ids: too many dashes for a number or a date."""
_ENDLESS: Final = 1 << 30
_EXPANDED_LEAST, _EXPANDED_TIMES = 10_000, 10
"""A document may stand for this many nodes, or for this many times as many as it has."""


def load_yaml(text: str) -> Any:
    """Return what a YAML text says.

    Raises:
        ValueError: it is no YAML; the message has the line.
    """
    try:
        _refuse_expansion(text)
        return yaml.load(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        raise ValueError(f"yaml: {_place(error)}{error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValueError(f"yaml: {' '.join(str(error).split())[:200]}") from error


def _refuse_expansion(text: str) -> None:
    """See that aliases do not stand for very much more than is written.

    Raises:
        ValueError: they do; Go's YAML refuses such a document in the same words.
    """
    if "*" not in text:
        return
    sizes: dict[int, int] = {}

    def size(node: Any) -> int:
        if id(node) not in sizes:
            sizes[id(node)] = 1  # an alias may stand within what it names
            parts = node.value if isinstance(node, yaml.CollectionNode) else ()
            flat = (
                part for pair in parts for part in (pair if isinstance(pair, tuple) else (pair,))
            )
            sizes[id(node)] += sum(size(part) for part in flat)
        return sizes[id(node)]

    expanded = size(yaml.compose(text, Loader=_LOADER))
    if expanded > _EXPANDED_LEAST and expanded > _EXPANDED_TIMES * len(sizes):
        raise ValueError("document contains excessive aliasing")


def _place(error: yaml.MarkedYAMLError) -> str:
    """Say in which line it is, as Go's YAML counts them: a parser has read on before it fails."""
    mark = error.problem_mark
    if mark is None:
        return ""
    return f"line {mark.line + isinstance(error, ScannerError)}: "


def without_nulls(tree: Any) -> Any:
    """Return a tree without fields and items that are null: what is null is left out."""
    if isinstance(tree, dict):
        return {key: without_nulls(value) for key, value in tree.items() if value is not None}
    if isinstance(tree, list):
        return [without_nulls(item) for item in tree if item is not None]
    return tree


@lru_cache(maxsize=8192)
def scalar(text: str) -> str:
    """Write a text plainly where it reads back as itself, else in the quotes of Go's YAML."""
    if _DASHED.fullmatch(text):
        return text
    style = '"' if not text.isprintable() or _reads_as_another_type(text) else None
    emitted = yaml.dump(
        text, Dumper=yaml.SafeDumper, default_style=style, allow_unicode=True, width=_ENDLESS
    )
    return str(emitted).removesuffix("\n").removesuffix("\n...")


class _Sorted(yaml.SafeDumper):
    """Prints a tree as Go does: keys in order, and double quotes where a text needs some."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if not text.isprintable() or _reads_as_another_type(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style)


_Sorted.add_representer(str, _represent)


def sorted_yaml(tree: Any) -> str:
    """Print a tree as Go prints what it has read from JSON."""
    text = yaml.dump(
        tree, Dumper=_Sorted, default_flow_style=False, allow_unicode=True, width=_ENDLESS
    )
    return str(text)


def _reads_as_another_type(text: str) -> bool:
    """Say whether a reader would take the plain text for a number, a date, a truth or nothing."""
    if text in ("", "~") or text.lower() == "null":
        return True
    try:
        if _NUMBER.fullmatch(text):
            return True
        return not isinstance(load_yaml(text), str | dict | list | None)
    except ValueError:
        return False  # no plain scalar at all: the emitter puts it into quotes

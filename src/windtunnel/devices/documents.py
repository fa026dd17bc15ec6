"""Reading YAML documents that people write: one loader, and one way to say what is wrong."""

from __future__ import annotations

from typing import Any, Final

import yaml
from yaml.scanner import ScannerError

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load_yaml(text: str) -> Any:
    """Return what a YAML text says.

    Raises:
        ValueError: it is no YAML; the message has the line.
    """
    try:
        return yaml.load(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        raise ValueError(f"yaml: {_place(error)}{error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValueError(f"yaml: {' '.join(str(error).split())[:200]}") from error


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

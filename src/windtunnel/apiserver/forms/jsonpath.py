"""The small JSONPath of printer columns and selectable fields.

For example ``.status.conditions[?(@.type=="Ready")].status``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

_STEP: Final = re.compile(
    r"""
    \.(?P<name>(?:\\.|[^.\[\\])+)                                      # .name, dots escaped
    | \[(?P<index>-?\d+)\]                                             # [0]
    | \[(?P<all>\*)\]                                                  # [*]
    | \[['"](?P<key>[^'"]+)['"]\]                                      # ['name']
    | \[\?\(\s*@(?P<field>[\w.\\/-]+)\s*(?P<op>==|!=)\s*['"]?(?P<value>[^'"\)]*)['"]?\s*\)\]
    """,
    re.VERBOSE,
)
_Step = tuple[str, Any]


@lru_cache(maxsize=1024)
def _steps(path: str) -> tuple[_Step, ...] | None:
    text = path.strip().removeprefix("{").removesuffix("}").removeprefix("$")
    if text and text[0] not in ".[":
        text = "." + text
    found: list[_Step] = []
    position = 0
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None:
            return None
        position = match.end()
        if match["name"] is not None:
            name = re.sub(r"\\(.)", r"\1", match["name"])
            found.append(("all", None) if name == "*" else ("name", name))
        elif match["key"] is not None:
            found.append(("name", match["key"]))
        elif match["index"] is not None:
            found.append(("index", int(match["index"])))
        elif match["all"] is not None:
            found.append(("all", None))
        else:
            inner = _steps(match["field"]) or ()
            found.append(("filter", (inner, match["op"] == "==", match["value"])))
    return tuple(found)


def _walk(values: list[Any], step: _Step) -> list[Any]:
    kind, detail = step
    return [found for value in values for found in _one(value, kind, detail)]


def _one(value: Any, kind: str, detail: Any) -> list[Any]:
    if kind == "name":
        return [value[detail]] if isinstance(value, dict) and detail in value else []
    if kind == "all":
        if isinstance(value, dict):
            return list(value.values())
        return value if isinstance(value, list) else []
    if not isinstance(value, list):
        return []
    if kind == "index":
        return [value[detail]] if -len(value) <= detail < len(value) else []
    inner, equal, wanted = detail
    return [
        item
        for item in value
        if (given := _follow(item, inner)) and (_text(given[0]) == wanted) is equal
    ]


def _follow(tree: Any, steps: tuple[_Step, ...]) -> list[Any]:
    values = [tree]
    for step in steps:
        values = _walk(values, step)
    return values


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def find(tree: Any, path: str) -> list[Any]:
    """Return every value at a path; none where the path is not understood."""
    steps = _steps(path)
    return [] if steps is None else _follow(tree, steps)

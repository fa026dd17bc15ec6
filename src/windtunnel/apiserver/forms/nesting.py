"""How deep a body may be nested.

Everything that walks a tree calls itself for every level, so a body deeper than all walks can bear
is refused where it is decoded, in the words of the real server (whose own bound is 10,000 levels).
"""

from __future__ import annotations

import re
from typing import Any, Final

MOST_LEVELS: Final = 150
"""Of lists and objects in one another: no walk takes more than five calls a level."""
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)


def is_too_deep(tree: Any) -> bool:
    """Return whether lists and objects are nested deeper than may be."""
    level = [tree] if isinstance(tree, (dict, list)) else []
    for _ in range(MOST_LEVELS):
        if not level:
            return False
        level = [
            part
            for value in level
            for part in (value.values() if value.__class__ is dict else value)
            if part.__class__ is dict or part.__class__ is list
        ]
    return bool(level)


def bracket_too_deep(text: str) -> str:
    """Return the first bracket of a JSON text that opens one level too many; "" without one."""
    depth = 0
    for found in _TOKEN.finditer(text):
        token = found.group()
        if token in ("[", "{"):
            depth += 1
            if depth > MOST_LEVELS:
                return token
        elif token in ("]", "}"):
            depth -= 1
    return ""


def may_be_too_deep(body: bytes) -> bool:
    """Return whether a text has brackets enough to be too deep: a fast look at most bodies."""
    return body.count(b"{") + body.count(b"[") > MOST_LEVELS

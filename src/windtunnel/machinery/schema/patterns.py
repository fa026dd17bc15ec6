"""Regular expressions as Go writes them, for Python to match.

Both know nearly the same; where they differ, Go's meaning is kept: ``$`` is only the end of the
text, classes are ASCII, POSIX classes exist and lookaround does not.

Source: Go regexp/syntax (RE2).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_POSIX: Final = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": r"\x00-\x7f", "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f", "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~",
    "punct": r"!-/:-@\[-`{-~", "space": r"\t\n\v\f\r ", "upper": "A-Z", "word": r"0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_TOKEN: Final = re.compile(
    r"\\Q(?P<quoted>.*?)(?:\\E|\Z)|(?P<escape>\\.)|(?P<group>\(\?(?:[=!]|<[=!]|<))"
    r"|\[:(?P<posix>\^?\w+):\]|(?P<plain>.)",
    re.DOTALL,
)
_TROUBLE_IN_CLASSES: Final = frozenset("[&~|")
"""Python warns of these inside a class: they may mean something one day."""


@lru_cache(maxsize=1024)
def go_pattern(text: str) -> re.Pattern[str]:
    """Return the compiled pattern.

    Raises:
        ValueError: It is no pattern of Go's, or of a sort that cannot be matched here.
    """
    try:
        return re.compile(_translated(text), re.ASCII)
    except (re.error, OverflowError) as mistake:
        raise ValueError(f"error parsing regexp: {mistake}") from None


def _translated(text: str) -> str:
    by_lines = bool(re.search(r"\(\?[a-z]*m", text))
    parts: list[str] = []
    class_start = -1
    for token in _TOKEN.finditer(text):
        whole = token.group()
        if class_start >= 0:
            if whole == "]" and len(parts) > class_start:
                class_start = -1
            parts.append(_in_class(token))
        elif whole == "[":
            parts.append(whole)
            # A bracket right after the opening (or its ^) belongs to the class.
            class_start = len(parts) + (1 + (text[token.end() : token.end() + 1] == "^"))
        else:
            parts.append(_outside(token, by_lines))
    return "".join(parts)


def _in_class(token: re.Match[str]) -> str:
    posix = token["posix"]
    if posix:
        if posix not in _POSIX:
            raise ValueError(f"error parsing regexp: invalid character class range: `{token[0]}`")
        return _POSIX[posix]
    if token["plain"] in _TROUBLE_IN_CLASSES:
        return "\\" + token["plain"]
    return token.group()


def _outside(token: re.Match[str], by_lines: bool) -> str:
    if token["quoted"] is not None:
        return re.escape(token["quoted"])
    escape = token["escape"]
    if escape:
        if escape[1] in "123456789":
            raise ValueError(f"error parsing regexp: invalid escape sequence: `{escape}`")
        return r"\Z" if escape == r"\z" else escape
    if token["group"]:
        if token["group"] == "(?<":
            return "(?P<"
        raise ValueError(
            f"error parsing regexp: invalid or unsupported Perl syntax: `{token['group']}`"
        )
    if token["plain"] == "$" and not by_lines:
        return r"\Z"
    return token.group()

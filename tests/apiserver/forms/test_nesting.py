from __future__ import annotations

from typing import Any

import pytest

from windtunnel.apiserver.forms.nesting import (
    MOST_LEVELS,
    bracket_too_deep,
    is_too_deep,
    may_be_too_deep,
)
from windtunnel.machinery.tree import decode

TEXTS = {
    "as deep as may be": ("[" * MOST_LEVELS + "]" * MOST_LEVELS, ""),
    "one list too many": ("[" * MOST_LEVELS + "[]" + "]" * MOST_LEVELS, "["),
    "one object too many": ("[" * MOST_LEVELS + "{}" + "]" * MOST_LEVELS, "{"),
    "brackets in a text": ('{"a":"' + "[" * 500 + '"}', ""),
    "many side by side": ("[" + ",".join(["{}"] * 500) + "]", ""),
}


@pytest.mark.parametrize(("text", "bracket"), TEXTS.values(), ids=TEXTS)
def test_text_and_tree_agree_on_what_is_too_deep(text: str, bracket: str) -> None:
    assert bracket_too_deep(text) == bracket
    assert is_too_deep(decode(text)) is bool(bracket)


def test_most_bodies_are_not_looked_at_twice() -> None:
    assert not may_be_too_deep(b"[" * MOST_LEVELS)
    assert may_be_too_deep(b"[" * (MOST_LEVELS + 1))


def test_a_scalar_is_not_deep() -> None:
    scalars: list[Any] = [None, 1, "x"]
    assert not any(map(is_too_deep, scalars))

"""``$(NAME)`` in commands and variables."""

from __future__ import annotations

import pytest

from windtunnel.nodes.kubelet.expansion import expand

CASES = {
    "a known name": ("x$(A)y", "x1y"),
    "an unknown name stays": ("$(C)", "$(C)"),
    "two dollar signs are one": ("$$(A)", "$(A)"),
    "a lone dollar sign": ("a$b $", "a$b $"),
    "no closing bracket": ("$(A", "$(A"),
    "a value is not expanded again": ("$(B)", "$(A)"),
}


@pytest.mark.parametrize(("text", "want"), CASES.values(), ids=CASES.keys())
def test_expand(text: str, want: str) -> None:
    assert expand(text, {"A": "1", "B": "$(A)"}) == want

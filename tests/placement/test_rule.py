"""Stretching raw scores."""

from __future__ import annotations

import numpy as np
import pytest

from windtunnel.placement.rule import normalised

CASES = {
    "the largest becomes 100": ([1, 2, 4], False, [25, 50, 100]),
    "reversed, the largest becomes 0": ([1, 2, 4], True, [75, 50, 0]),
    "nothing but zeros stays": ([0, 0], False, [0, 0]),
    "reversed, nothing but zeros is best": ([0, 0], True, [100, 100]),
    "division cuts": ([1, 3], False, [33, 100]),
}


@pytest.mark.parametrize(("raw", "reverse", "want"), CASES.values(), ids=CASES)
def test_normalised(raw: list[int], reverse: bool, want: list[int]) -> None:
    assert normalised(np.array(raw), reverse=reverse).tolist() == want

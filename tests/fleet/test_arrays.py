"""Distinct numbers, and numbers without gaps: as numpy has them, without what that loads."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.fleet.arrays import distinct, numbered

SMALL = st.lists(st.integers(0, 50)).map(lambda numbers: np.array(numbers, np.int64))


@given(SMALL)
def test_distinct_numbers_ascend(numbers: np.ndarray) -> None:
    assert distinct(numbers).tolist() == sorted(set(numbers.tolist()))


@given(SMALL)
def test_gaps_close_and_order_stays(numbers: np.ndarray) -> None:
    assert numbered(numbers).tolist() == np.unique(numbers, return_inverse=True)[1].tolist()

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.kinds.workload.job_indexes import (
    MalformedIndexes,
    count_indexes,
    first_shared_index,
    parse_indexes,
)


def text_of(chosen: set[int]) -> str:
    return ",".join(map(str, sorted(chosen)))


indexes = st.sets(st.integers(min_value=0, max_value=60))


@given(indexes)
def test_a_list_of_indexes_is_read_as_such(chosen: set[int]) -> None:
    intervals = parse_indexes(text_of(chosen), 100)

    assert {i for first, last in intervals for i in range(first, last + 1)} == chosen
    assert count_indexes(intervals) == len(chosen)


@given(indexes, indexes)
def test_the_first_shared_index_is_the_smallest_in_both(left: set[int], right: set[int]) -> None:
    found = first_shared_index(text_of(left), text_of(right), 100)

    assert found == min(left & right, default=None)


def test_an_interval_holds_both_of_its_ends() -> None:
    assert count_indexes(parse_indexes("1,3-5", 9)) == 4


@pytest.mark.parametrize("text", ["a", "1-", "3-1", "2,1", "1-2-3", "9", "0-9", "1,1"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(MalformedIndexes):
        parse_indexes(text, 9)

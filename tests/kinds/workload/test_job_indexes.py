from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.kinds.workload.job_indexes import (
    MalformedIndexes,
    count_indexes,
    first_shared_index,
    format_indexes,
    parse_indexes,
    read_indexes,
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


@pytest.mark.parametrize("text", ["a", "1-", "3-1", "2,1", "1-2-3", "9", "0-9", "1,1", "9" * 5000])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(MalformedIndexes):
        parse_indexes(text, 9)


TEXTS = [("", set()), ("1", {1}), ("0,1", {0, 1}), ("0-2", {0, 1, 2}), ("1,3-5,7", {1, 3, 4, 5, 7})]


@pytest.mark.parametrize(("text", "indexes"), TEXTS)
def test_a_list_of_indexes_is_read_and_written_alike(text: str, indexes: set[int]) -> None:
    assert read_indexes(text, 10) == indexes
    assert format_indexes(indexes) == text


def test_what_lies_beyond_the_completions_is_dropped() -> None:
    assert read_indexes("1,3-9,12", 5) == {1, 3, 4}


@given(st.sets(st.integers(0, 60)))
def test_writing_and_reading_gives_the_same_set(indexes: set[int]) -> None:
    assert read_indexes(format_indexes(indexes), 61) == indexes


def test_what_is_malformed_is_skipped() -> None:
    assert read_indexes("x,1,2-y,4", 9) == {1, 4}

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.kinds.workload.job_indexes import (
    Indexes,
    MalformedIndexes,
    count_indexes,
    first_shared_index,
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
    assert set(read_indexes(text, 10)) == indexes
    assert (Indexes() | indexes).text() == text


def test_what_lies_beyond_the_completions_is_dropped() -> None:
    assert set(read_indexes("1,3-9,12", 5)) == {1, 3, 4}


@given(st.sets(st.integers(0, 60)))
def test_writing_and_reading_gives_the_same_set(indexes: set[int]) -> None:
    assert set(read_indexes((Indexes() | indexes).text(), 61)) == indexes


def test_what_is_malformed_is_skipped() -> None:
    assert set(read_indexes("x,1,2-y,4", 9)) == {1, 4}


@given(indexes, indexes)
def test_it_is_a_set(left: set[int], right: set[int]) -> None:
    one, two = Indexes() | left, Indexes() | right

    assert list(one) == sorted(left)
    assert len(one) == len(left)
    assert set(one | two) == left | right
    assert one.shared(two) == len(left & right)
    assert [number for number in range(62) if number in one] == sorted(left)
    assert list(one.free(50)) == [number for number in range(50) if number not in left]


def test_very_many_cost_nothing() -> None:
    every = read_indexes("0-2147483645", 2_147_483_647)

    assert len(every) == 2_147_483_646
    assert list((every | {7}).free(2_147_483_647)) == [2_147_483_646]
    assert every.text() == "0-2147483645"

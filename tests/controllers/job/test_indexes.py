import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.controllers.job.indexes import format_indexes, index_of, parse_indexes

TEXTS = [("", set()), ("1", {1}), ("0,1", {0, 1}), ("0-2", {0, 1, 2}), ("1,3-5,7", {1, 3, 4, 5, 7})]


@pytest.mark.parametrize(("text", "indexes"), TEXTS)
def test_a_list_of_indexes_is_read_and_written_alike(text: str, indexes: set[int]) -> None:
    assert parse_indexes(text, 10) == indexes
    assert format_indexes(indexes) == text


def test_what_lies_beyond_the_completions_is_dropped() -> None:
    assert parse_indexes("1,3-9,12", 5) == {1, 3, 4}


@given(st.sets(st.integers(0, 60)))
def test_writing_and_reading_gives_the_same_set(indexes: set[int]) -> None:
    assert parse_indexes(format_indexes(indexes), 61) == indexes


@pytest.mark.parametrize(
    ("text", "want"), [("0", 0), ("4", 4), ("5", None), ("-1", None), ("x", None), ("", None)]
)
def test_a_pods_index(text: str, want: int | None) -> None:
    assert index_of({"batch.kubernetes.io/job-completion-index": text}, 5) == want

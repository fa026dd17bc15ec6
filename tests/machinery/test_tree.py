"""Trees are what a JSON decoder makes, and stay so there and back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.machinery.tree import Key, decode, dig, encode, key_of

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(), below, max_size=3),
    max_leaves=8,
)


@given(values)
def test_what_is_encoded_is_decoded_the_same(value: Any) -> None:
    assert decode(encode(value)) == value


def test_keys_keep_their_order() -> None:
    assert encode({"b": 1, "a": 2}) == b'{"b":1,"a":2}'


def test_what_is_no_json_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="truncated"):
        decode(b"{")


TREE = {"a": {"b": [{"c": 1}, {"c": 2}]}, "n": None}

PLACES: dict[str, tuple[tuple[str | int, ...], Any]] = {
    "through objects and lists": (("a", "b", 1, "c"), 2),
    "from the end of a list": (("a", "b", -1, "c"), 2),
    "nowhere": ((), TREE),
    "past the end": (("a", "b", 2), None),
    "a missing field": (("a", "x", "y"), None),
    "through null": (("n", "x"), None),
    "a field of a list": (("a", "b", "c"), None),
}


@pytest.mark.parametrize(("path", "want"), PLACES.values(), ids=PLACES)
def test_digging(path: tuple[str | int, ...], want: Any) -> None:
    assert dig(TREE, *path) == want


def test_a_key_is_read_from_metadata_and_printed_as_people_write_it() -> None:
    assert key_of({"metadata": {"name": "p", "namespace": "n"}}) == Key("n", "p")
    assert key_of({}) == Key("", "")
    assert str(Key("n", "p")) == "n/p"
    assert str(Key("", "node")) == "node"

"""Tests of profiles."""

from hypothesis import given
from hypothesis import strategies as st

from windtunnel.devices import merged
from windtunnel.devices.profiles import profile_config_map_name, profile_of_config_map

scalars = st.integers() | st.none() | st.lists(st.integers(), max_size=2)
trees = st.recursive(
    scalars, lambda t: st.dictionaries(st.sampled_from("abc"), t, max_size=3), max_leaves=8
)


def test_maps_merge_and_all_else_replaces() -> None:
    base = {"a": {"b": 1, "c": [1, 2]}, "d": 1}

    assert merged(base, {"a": {"c": [3]}, "e": 2}) == {"a": {"b": 1, "c": [3]}, "d": 1, "e": 2}
    assert base == {"a": {"b": 1, "c": [1, 2]}, "d": 1}


@given(base=trees, changes=trees)
def test_the_same_changes_twice_are_the_same_changes(base: object, changes: object) -> None:
    once = merged(base, changes)

    assert merged(once, changes) == once


def test_a_config_map_is_named_after_its_profile() -> None:
    assert profile_of_config_map(profile_config_map_name("h100")) == "h100"
    assert profile_of_config_map("topology") == ""

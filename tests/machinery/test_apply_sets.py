from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from windtunnel.machinery.apply.fieldset import (
    FieldSet,
    difference,
    intersection,
    members,
    union,
    without,
)


def of_members(paths: list[tuple[str, ...]]) -> FieldSet:
    """Return the set that has exactly these fields."""
    fields: FieldSet = {}
    for path in paths:
        single: FieldSet = {}
        for element in reversed(path):
            single = {element: single}
        fields = union(fields, single)
    return fields


elements = st.sampled_from(["f:a", "f:b", "f:c", 'k:{"name":"x"}', 'v:"y"'])
paths = st.lists(elements, min_size=1, max_size=4).map(tuple)
sets = st.sets(paths, max_size=8).map(lambda found: of_members(sorted(found)))


def fields(of: FieldSet) -> set[tuple[str, ...]]:
    return set(members(of))


@given(found=st.sets(paths, max_size=8))
def test_a_set_has_exactly_the_fields_it_was_made_of(found: set[tuple[str, ...]]) -> None:
    assert fields(of_members(sorted(found))) == found


@given(left=sets, right=sets)
def test_sets_behave_like_sets(left: FieldSet, right: FieldSet) -> None:
    assert fields(union(left, right)) == fields(left) | fields(right)
    assert fields(difference(left, right)) == fields(left) - fields(right)
    assert fields(intersection(left, right)) == fields(left) & fields(right)


@given(left=sets, right=sets)
def test_equal_sets_look_equal(left: FieldSet, right: FieldSet) -> None:
    assert union(left, right) == union(right, left)
    assert union(difference(left, right), intersection(left, right)) == left
    assert difference(left, left) == {}
    assert of_members(sorted(fields(left))) == left


@given(left=sets, right=sets)
def test_taking_away_with_all_beneath(left: FieldSet, right: FieldSet) -> None:
    gone = fields(right)

    assert fields(without(left, right)) == {
        path for path in fields(left) if not any(path[: len(prefix)] == prefix for prefix in gone)
    }


@given(left=sets, right=sets)
def test_nothing_that_is_handed_in_changes(left: FieldSet, right: FieldSet) -> None:
    before = fields(left), fields(right)
    for operation in (union, difference, intersection, without):
        operation(left, right)

    assert (fields(left), fields(right)) == before


def test_a_field_with_fields_beneath_it_carries_a_dot() -> None:
    assert of_members([("f:a",), ("f:a", "f:b")]) == {"f:a": {".": {}, "f:b": {}}}
    assert difference({"f:a": {".": {}, "f:b": {}}}, {"f:a": {"f:b": {}}}) == {"f:a": {}}
    assert difference({"f:a": {".": {}, "f:b": {}}}, {"f:a": {}}) == {"f:a": {"f:b": {}}}

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.machinery.errors import BadRequest, TooLarge
from windtunnel.machinery.patches import PatchFailed, go_text, json_patch, merge_patch

DOCUMENT = {"data": {"a": "1", "b": "2"}, "list": [1, 2, 3], "a/b": {"m~n": 0}}


def op(kind: str, path: str, value: Any = None, **more: Any) -> dict[str, Any]:
    return {"op": kind, "path": path, "value": value, **more}


JSON_PATCHES = {
    "add a member": ([op("add", "/data/c", "3")], {"data": {"a": "1", "b": "2", "c": "3"}}),
    "add over a member": ([op("add", "/data/a", "9")], {"data": {"a": "9", "b": "2"}}),
    "add into a list": ([op("add", "/list/1", 9)], {"list": [1, 9, 2, 3]}),
    "add at the end": ([op("add", "/list/-", 9)], {"list": [1, 2, 3, 9]}),
    "add before the last": ([op("add", "/list/-2", 9)], {"list": [1, 2, 9, 3]}),
    "replace": ([op("replace", "/data/a", "9")], {"data": {"a": "9", "b": "2"}}),
    "replace what is missing": ([op("replace", "/new", 1)], {"new": 1}),
    "replace an item": ([op("replace", "/list/-1", 9)], {"list": [1, 2, 9]}),
    "remove": ([op("remove", "/data/a")], {"data": {"b": "2"}}),
    "move": ([op("move", "/data/z", **{"from": "/data/a"})], {"data": {"b": "2", "z": "1"}}),
    "copy": ([op("copy", "/list/0", **{"from": "/data/a"})], {"list": ["1", 1, 2, 3]}),
    "test, then change": (
        [op("test", "/data/a", "1"), op("remove", "/data/b")], {"data": {"a": "1"}},
    ),
    "test that something is missing": ([op("test", "/data/z")], {}),
    "what stands before the first slash is passed over": ([op("add", "x/new", 1)], {"new": 1}),
    "a copy of what is missing is null": (
        [op("copy", "/new", **{"from": "/data/q"})], {"new": None},
    ),
    "no operations": (None, {}),
    "escaped names": ([op("replace", "/a~1b/m~0n", 5)], {"a/b": {"m~n": 5}}),
}  # fmt: skip


@pytest.mark.parametrize(("patch", "want"), JSON_PATCHES.values(), ids=JSON_PATCHES.keys())
def test_a_json_patch_is_applied(patch: Any, want: dict[str, Any]) -> None:
    assert json_patch(copy.deepcopy(DOCUMENT), patch) == {**DOCUMENT, **want}


def test_the_whole_document_can_be_replaced() -> None:
    assert json_patch({"a": 1}, [op("replace", "", {"b": 2})]) == {"b": 2}


@pytest.mark.parametrize(
    "operation",
    [
        op("test", "/data/a", "7"),
        op("test", "/list/0", True),
        op("remove", "/data/zz"),
        op("remove", "/list/3"),
        op("add", "/foo/bar", 1),
        op("add", "/list/4", 1),
        op("add", "/list/x", 1),
        op("add", "/list/1_0", 1),
        op("add", "", {}),
        op("replace", "/list/3", 1),
        op("replace", "/data/a/b", 1),
        op("frob", "/data/a"),
        op("add", "data"),
        op("move", "/x"),
        {"op": "remove"},
        {"path": "/data"},
        {"op": "remove", "path": 5},
    ],
    ids=str,
)
def test_an_operation_that_does_not_fit_is_refused_without_a_reason(operation: Any) -> None:
    with pytest.raises(PatchFailed) as refusal:
        json_patch(copy.deepcopy(DOCUMENT), [operation])

    assert refusal.value.to_status() == {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "the server rejected our request due to an error in our request",
        "reason": "Invalid", "details": {}, "code": 422,
    }  # fmt: skip


def test_a_patch_of_the_wrong_shape_is_refused() -> None:
    with pytest.raises(BadRequest, match=r"object into Go value of type \[\]handlers"):
        json_patch({}, {"op": "add"})
    with pytest.raises(BadRequest, match=r"string into Go value of type handlers\.jsonPatchOp"):
        json_patch({}, ["x"])
    with pytest.raises(BadRequest) as refusal:
        merge_patch({}, ["x"])
    assert refusal.value.message == (
        "error decoding patch: json: cannot unmarshal array into Go value of type "
        "map[string]interface {}"
    )
    with pytest.raises(BadRequest, match="Invalid JSON Patch"):
        merge_patch({}, None)
    with pytest.raises(TooLarge):
        json_patch({}, [op("add", "/a", 1)] * 10_001)


def test_values_that_enter_the_tree_are_not_shared_with_the_patch() -> None:
    patch = [op("add", "/a", {"b": 1}), op("add", "/a/c", 2)]

    json_patch({}, patch)

    assert patch[0]["value"] == {"b": 1}


MERGE_PATCHES = {
    "null removes": ({"data": {"a": None, "c": "3"}}, {"data": {"b": "2", "c": "3"}}),
    "null removes a whole member": ({"data": None}, {}),
    "null inside of what is new": ({"new": {"a": None, "b": {"c": None}}},
                                   {"data": {"a": "1", "b": "2"}, "new": {"b": {}}}),
    "lists are replaced": ({"data": [1, None]}, {"data": [1, None]}),
    "an object replaces a text": ({"data": {"a": {"x": 1}}}, {"data": {"a": {"x": 1}, "b": "2"}}),
}  # fmt: skip


@pytest.mark.parametrize(("patch", "want"), MERGE_PATCHES.values(), ids=MERGE_PATCHES.keys())
def test_a_merge_patch_is_applied(patch: Any, want: Any) -> None:
    assert merge_patch({"data": {"a": "1", "b": "2"}}, patch) == want


def test_decoded_json_is_printed_as_go_prints_it() -> None:
    assert go_text({"b": [1, None, True], "a": {"x": "y"}}) == "map[a:map[x:y] b:[1 <nil> true]]"


names = st.sampled_from("abcd")
documents = st.recursive(
    st.booleans() | st.integers(-3, 3) | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=10,
)
objects = st.dictionaries(names, documents, max_size=4)


def difference(old: Any, new: Any) -> Any:
    """The merge patch from one object to another."""
    patch = dict.fromkeys(old.keys() - new.keys())
    for key, value in new.items():
        if key not in old:
            patch[key] = value
        elif isinstance(value, dict) and isinstance(old[key], dict):
            patch[key] = difference(old[key], value)
        elif old[key] != value or isinstance(old[key], bool) != isinstance(value, bool):
            patch[key] = value
    return patch


@given(old=objects, new=objects)
def test_a_merge_patch_leads_from_any_object_to_any_other(old: Any, new: Any) -> None:
    patch = difference(old, new)

    assert merge_patch(copy.deepcopy(old), copy.deepcopy(patch)) == new


@given(old=objects, new=objects)
def test_applying_a_merge_patch_twice_changes_nothing(old: Any, new: Any) -> None:
    patch = difference(old, new)
    once = merge_patch(copy.deepcopy(old), copy.deepcopy(patch))

    assert merge_patch(copy.deepcopy(once), copy.deepcopy(patch)) == once


def operations(old: Any, new: Any) -> list[Any]:
    removed = [op("remove", f"/{key}") for key in sorted(old.keys() - new.keys())]
    return removed + [op("add", f"/{key}", new[key]) for key in sorted(new)]


@given(old=objects, new=objects)
def test_a_json_patch_and_its_reverse_lead_there_and_back(old: Any, new: Any) -> None:
    there = json_patch(copy.deepcopy(old), operations(old, new))

    assert there == new
    assert json_patch(there, operations(new, old)) == old


kinds = st.sampled_from(["add", "remove", "replace", "move", "copy", "test", "x"])
pointers = st.lists(st.sampled_from(["a", "b", "0", "-1", "-", ""]), max_size=3).map(
    lambda steps: "".join(f"/{step}" for step in steps)
)


@given(
    tree=objects,
    patch=st.lists(
        st.fixed_dictionaries(
            {"op": kinds, "path": pointers}, optional={"from": pointers, "value": documents}
        ),
        max_size=4,
    ),
)
def test_any_json_patch_is_applied_or_refused(tree: Any, patch: Any) -> None:
    try:
        json_patch(tree, patch)
    except PatchFailed:
        return

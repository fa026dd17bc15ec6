from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.kinds.served import recorded
from windtunnel.machinery.errors import ApiError, BadRequest
from windtunnel.machinery.patches import strategic_patch
from windtunnel.machinery.schema import Models, Structure

Find = Callable[[str], Structure]

A = {"name": "a", "image": "a:1", "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}]}
B = {"name": "b", "image": "b:1"}
SPEC = {
    "containers": [A, B],
    "tolerations": [{"key": "k1", "operator": "Exists"}],
    "volumes": [{"name": "v", "emptyDir": {}}],
    "nodeSelector": {"x": "1"},
}


def containers(*items: Any) -> dict[str, Any]:
    return {"containers": list(items)}


PATCHED = {
    "a keyed item is merged in its place": (
        containers({"name": "b", "image": "b:2"}), containers(A, {"name": "b", "image": "b:2"}),
    ),
    "a new keyed item comes first": (
        containers({"name": "c", "image": "c"}), containers({"name": "c", "image": "c"}, A, B),
    ),
    "new and merged items keep the order of the patch": (
        containers({"name": "b", "image": "2"}, {"name": "c"}),
        containers(A, {"name": "b", "image": "2"}, {"name": "c"}),
    ),
    "an item is deleted": (containers({"name": "a", "$patch": "delete"}), containers(B)),
    "a list is replaced": (
        containers({"name": "z"}, {"$patch": "replace"}), containers({"name": "z"}),
    ),
    "lists inside items merge too": (
        containers(
            {"name": "a", "env": [{"name": "Y", "value": "3"}, {"name": "Z", "value": "9"}]}),
        containers(
            {**A, "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": "3"},
                          {"name": "Z", "value": "9"}]}, B),
    ),
    "null removes a field of an item": (
        containers({"name": "a", "env": None}), containers({"name": "a", "image": "a:1"}, B),
    ),
    "an atomic list is replaced": (
        {"tolerations": [{"key": "k2", "operator": "Exists"}]},
        {"tolerations": [{"key": "k2", "operator": "Exists"}]},
    ),
    "the order is given": (
        {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}],
         **containers({"name": "a", "image": "a:2"})},
        containers(B, {**A, "image": "a:2"}),
    ),
    "an order leaves what it does not name where it was": (
        {"$setElementOrder/containers": [{"name": "b"}]}, containers(A, B),
    ),
    "keys are retained": (
        {"volumes": [
            {"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/x"}}]},
        {"volumes": [{"name": "v", "hostPath": {"path": "/x"}}]},
    ),
    "without that, members of both sides stay": (
        {"volumes": [{"name": "v", "hostPath": {"path": "/x"}}]},
        {"volumes": [{"name": "v", "emptyDir": {}, "hostPath": {"path": "/x"}}]},
    ),
    "a map is merged": ({"nodeSelector": {"y": "2"}}, {"nodeSelector": {"x": "1", "y": "2"}}),
    "a map is replaced": (
        {"nodeSelector": {"$patch": "replace", "y": "2"}}, {"nodeSelector": {"y": "2"}},
    ),
    "a map is emptied": ({"nodeSelector": {"$patch": "delete"}}, {"nodeSelector": {}}),
    "nulls of what is new are dropped": (
        {"affinity": {"nodeAffinity": None, "podAffinity": {}}}, {"affinity": {"podAffinity": {}}},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("patch", "want"), PATCHED.values(), ids=PATCHED.keys())
def test_a_patch_is_merged_as_the_structure_says(structure: Find, patch: Any, want: Any) -> None:
    tree = copy.deepcopy(SPEC)

    merged = strategic_patch(tree, copy.deepcopy(patch), structure("core.v1.PodSpec"))

    assert merged == {**SPEC, **want}


FINALIZERS = {
    "scalars merge as a set, new ones first": (["c"], ["c", "a", "b"]),
    "known ones keep their place": (["b"], ["a", "b"]),
}


@pytest.mark.parametrize(("patch", "want"), FINALIZERS.values(), ids=FINALIZERS.keys())
def test_lists_of_scalars_merge(structure: Find, patch: Any, want: Any) -> None:
    tree = {"metadata": {"finalizers": ["a", "b"]}}

    merged = strategic_patch(
        tree, {"metadata": {"finalizers": patch}}, structure("core.v1.ConfigMap")
    )

    assert merged["metadata"]["finalizers"] == want


def test_scalars_are_deleted_from_a_list(structure: Find) -> None:
    tree = {"metadata": {"finalizers": ["a", "b"]}}
    patch = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a", "z"]}}
    no_list = {"metadata": {"$deleteFromPrimitiveList/finalizers": "b"}}

    merged = strategic_patch(tree, patch, structure("core.v1.ConfigMap"))
    merged = strategic_patch(merged, no_list, structure("core.v1.ConfigMap"))

    assert merged == {"metadata": {"finalizers": ["b"]}}


REFUSED = {
    "an unknown directive": (
        {"nodeSelector": {"$patch": "frob"}}, 500,
        "unknown patch type: frob in map: map[$patch:frob]",
    ),
    "an unknown directive in a list": (
        containers({"name": "a", "$patch": "frob"}), 500,
        "unknown patch type: frob in map: map[$patch:frob name:a]",
    ),
    "merge as a directive": (
        containers({"name": "a", "$patch": "merge"}), 500,
        "merging lists cannot yet be specified in the patch",
    ),
    "an item without its key": (
        containers({"image": "x"}), 500,
        "map: map[image:x] does not contain declared merge key: name",
    ),
    "retained keys that are no list": (
        {"nodeSelector": {"$retainKeys": "x"}}, 400, "invalid patch format of retainKeys",
    ),
    "a field that is not retained": (
        {"nodeSelector": {"$retainKeys": ["y"], "x": "1"}}, 400,
        "invalid patch format of retainKeys",
    ),
    "an order that is no list": (
        {"$setElementOrder/containers": "a"}, 500,
        "expected a []interface {}, but received a string",
    ),
    "an order for what is no list": (
        {"$setElementOrder/foo": []}, 500,
        'unable to find api field in struct PodSpec for the json field "foo"',
    ),
}  # fmt: skip


@pytest.mark.parametrize(("patch", "code", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_a_directive_out_of_place_is_refused(
    structure: Find, patch: Any, code: int, message: str
) -> None:
    with pytest.raises(ApiError) as refusal:
        strategic_patch(copy.deepcopy(SPEC), copy.deepcopy(patch), structure("core.v1.PodSpec"))

    assert (refusal.value.code, refusal.value.message) == (code, message)


def test_a_patch_must_be_an_object(structure: Find) -> None:
    with pytest.raises(BadRequest, match="cannot unmarshal array into Go value"):
        strategic_patch({}, [], structure("core.v1.Pod"))


words = st.sampled_from("abcdef")
images = st.sampled_from(["1", "2", "3"])
container_lists = st.lists(
    st.fixed_dictionaries({"name": words}, optional={"image": images, "workingDir": images}),
    max_size=5,
    unique_by=lambda item: item["name"],
)


@given(old=container_lists, patch=container_lists)
def test_merging_keeps_every_item_once_and_merging_again_changes_nothing(
    old: Any, patch: Any
) -> None:
    spec = Models(recorded.schemas()).structure("io.k8s.api.core.v1.PodSpec")
    tree = {"containers": copy.deepcopy(old)}

    merged = strategic_patch(tree, {"containers": copy.deepcopy(patch)}, spec)
    names = [item["name"] for item in merged["containers"]]
    again = strategic_patch(copy.deepcopy(merged), {"containers": copy.deepcopy(patch)}, spec)

    assert sorted(names) == sorted(
        {item["name"] for item in old} | {item["name"] for item in patch}
    )
    assert [name for name in names if name in {p["name"] for p in patch}] == [
        item["name"] for item in patch
    ]
    assert again == merged

from __future__ import annotations

from typing import Any

import pytest
from tests.apiserver.api import Api, config

from windtunnel.apiserver.verbs.validation import settle, settle_patched
from windtunnel.kinds import Catalogue, builtin_kinds
from windtunnel.machinery.patches import merge_patch
from windtunnel.machinery.tree import Tree, decode, encode


@pytest.mark.parametrize(
    ("mode", "status", "warnings"),
    [("Strict", 400, 0), ("Warn", 201, 2), ("Ignore", 201, 0), ("", 201, 2)],
)
def test_unknown_and_repeated_fields(
    api: Api, ns: str, mode: str, status: int, warnings: int
) -> None:
    body = b'{"metadata":{"name":"m"},"data":{"a":"1","a":"2"},"foo":1}'

    answer = api.answer("POST", f"{ns}/configmaps?fieldValidation={mode}", body)

    assert answer.status == status
    assert len([name for name, _ in answer.headers if name == "Warning"]) == warnings


def test_a_strict_refusal_names_every_field(api: Api, ns: str) -> None:
    body = b'{"metadata":{"name":"m"},"data":{"a":"1","a":"2"},"foo":1}'

    assert api.refused("POST", f"{ns}/configmaps?fieldValidation=Strict", body)[1] == (
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: '
        'duplicate field "data.a", unknown field "foo"'
    )


def test_a_patch_to_nonsense_is_refused(api: Api, ns: str) -> None:
    api.post(f"{ns}/configmaps", config("m"))

    code, text = api.refused(
        "PATCH",
        f"{ns}/configmaps/m",
        {"data": {"a": 5}},
        content_type="application/merge-patch+json",
    )
    assert code == 422
    assert text.endswith(
        "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"
    )


def test_unknown_fields_of_a_patch(api: Api, ns: str) -> None:
    api.post(f"{ns}/configmaps", config("m"))
    merge = "application/merge-patch+json"

    answer = api.answer("PATCH", f"{ns}/configmaps/m", {"foo": 1}, content_type=merge)
    assert ("Warning", '299 - "unknown field \\"foo\\""') in answer.headers
    path = f"{ns}/configmaps/m?fieldValidation=Strict"
    code, text = api.refused("PATCH", path, {"foo": 1}, content_type=merge)
    assert code == 422
    assert "strict decoding error" in text


def test_a_type_mistake_in_a_status_is_found(api: Api, ns: str) -> None:
    api.pod(ns)

    code, text = api.refused(
        "PATCH", f"{ns}/pods/p/status", {"status": {"phase": 5}},
        content_type="application/merge-patch+json",
    )  # fmt: skip
    assert code == 422
    assert "of type v1.PodPhase" in text


NODE: Tree = {
    "kind": "Node",
    "apiVersion": "v1",
    "metadata": {"name": "n", "labels": {"a": "b"}},
    "spec": {"podCIDR": "10.0.0.0/24", "taints": [{"key": "t", "effect": "NoSchedule"}]},
    "status": {"capacity": {"cpu": "4"}},
}
PATCHES: dict[str, Tree] = {
    "labels": {"metadata": {"labels": {"c": "d"}}},
    "nothing left of a list": {"spec": {"taints": None}},
    "an empty list": {"spec": {"taints": []}},
    "quantities in other words": {"status": {"capacity": {"cpu": "4000m", "memory": 1024}}},
    "a field that is unknown": {"spec": {"colour": "red"}},
    "a part that goes": {"spec": None},
    "two parts": {"metadata": {"annotations": {"x": "y"}}, "spec": {"unschedulable": True}},
    "a part that is unknown": {"colour": "red"},
}


@pytest.mark.parametrize("patch", PATCHES.values(), ids=PATCHES)
def test_what_a_patch_has_changed_is_settled_as_the_whole_would_be(patch: Tree) -> None:
    kind = Catalogue(builtin_kinds()).by_resource("nodes")
    stored = _copy(NODE)
    settle(kind, stored)
    whole, part = (merge_patch(_copy(stored), _copy(patch)) for _ in range(2))

    settle(kind, whole)
    settle_patched(kind, part, patch)

    assert encode(part) == encode(whole)


def _copy(tree: Tree) -> Any:
    return decode(encode(tree))

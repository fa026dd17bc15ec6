from __future__ import annotations

from typing import Any

import pytest
from tests.apiserver.api import APPLY, JSON_PATCH, MERGE, STRATEGIC, Api, config


def test_four_sorts_of_patches(api: Api, ns: str) -> None:
    path = f"{ns}/configmaps/m"
    api.post(f"{ns}/configmaps", config("m", data={"a": "1"}))

    assert api.patch(path, {"data": {"a": None, "b": "2"}})["data"] == {"b": "2"}
    added = [{"op": "add", "path": "/data/c", "value": "3"}]
    assert api.patch(path, added, JSON_PATCH)["data"] == {"b": "2", "c": "3"}
    assert api.patch(path, {"data": {"d": "4"}}, STRATEGIC)["data"]["d"] == "4"
    applied = config("m", data={"e": "5"})
    assert api.patch(f"{path}?fieldManager=me", applied, APPLY)["data"]["e"] == "5"


def test_a_malformed_patch_is_refused(api: Api, ns: str) -> None:
    api.post(f"{ns}/configmaps", config("m"))

    code, text = api.refused("PATCH", f"{ns}/configmaps/m", ["x"], content_type=STRATEGIC)
    assert code == 400
    assert "json: cannot unmarshal array into Go value" in text
    assert api.refused("PATCH", f"{ns}/configmaps/m", {}, content_type="text/plain")[0] == 415


def test_a_patch_with_a_stale_revision_conflicts(api: Api, ns: str) -> None:
    made = api.post(f"{ns}/configmaps", config("m"))
    api.patch(f"{ns}/configmaps/m", {"data": {"a": "1"}})

    stale = {"metadata": {"resourceVersion": made["metadata"]["resourceVersion"]}, "data": {}}
    assert api.refused("PATCH", f"{ns}/configmaps/m", stale, content_type=STRATEGIC)[0] == 409


def test_an_apply_creates_what_is_missing(api: Api, ns: str) -> None:
    path = f"{ns}/configmaps/m?fieldManager=me"

    status, made = api.send("PATCH", path, config("m", data={"a": "1"}), content_type=APPLY)

    assert status == 201
    (entry,) = made["metadata"]["managedFields"]
    assert (entry["operation"], entry["fieldsV1"]) == ("Apply", {"f:data": {"f:a": {}}})


def test_an_apply_with_a_uid_needs_that_object(api: Api, ns: str) -> None:
    body = config("m", metadata={"uid": "u"})

    code, text = api.refused(
        "PATCH", f"{ns}/configmaps/m?fieldManager=me", body, content_type=APPLY
    )
    assert code == 409
    assert "uid mismatch" in text


def test_two_managers_of_one_field_conflict(api: Api, ns: str) -> None:
    path = f"{ns}/configmaps/m?fieldManager="
    api.patch(path + "one", config("m", data={"a": "1"}), APPLY)

    code, text = api.refused(
        "PATCH", path + "two", config("m", data={"a": "2"}), content_type=APPLY
    )
    assert code == 409
    assert text == 'Apply failed with 1 conflict: conflict with "one": .data.a'
    forced = api.patch(path + "two&force=true", config("m", data={"a": "2"}), APPLY)
    assert forced["data"] == {"a": "2"}


def test_an_apply_says_what_it_is(api: Api, ns: str) -> None:
    path = f"{ns}/configmaps/m?fieldManager=me"

    assert api.refused("PATCH", path, {"metadata": {"name": "m"}}, content_type=APPLY) == (
        400,
        "invalid object type: /, Kind=",
    )


PATCHES = {
    "a strategic merge is read by other means": (
        STRATEGIC, {"data": "x"},
        'Invalid value: "map[data:x]": cannot restore map from string',
    ),
    "a merge patch with a field twice": (
        MERGE, b'{"data": {"a": "1", "a": "2"}}',
        'strict decoding error: duplicate field "data.a"',
    ),
    "a JSON patch with a field twice": (
        JSON_PATCH, b'[{"op": "add", "op": "add", "path": "/data/z", "value": "1"}]',
        'strict decoding error: json patch duplicate field "[0].op"',
    ),
    "an apply that is no object": (
        APPLY, b"- a", "json: cannot unmarshal array into Go value of type map[string]interface {}",
    ),
    "an apply of another version": (
        APPLY, {"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "m"}},
        "invalid object type: /v2, Kind=ConfigMap",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("form", "body", "why"), PATCHES.values(), ids=PATCHES.keys())
def test_a_patch_that_does_not_fit_is_refused(
    api: Api, ns: str, form: str, body: Any, why: str
) -> None:
    path = f"{ns}/configmaps/m"
    api.post(f"{ns}/configmaps", config("m", data={"a": "1"}))

    strict = f"{path}?fieldValidation=Strict&fieldManager=me"
    assert why in api.refused("PATCH", strict, body, content_type=form)[1]

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.apiserver.api import Api, config

from windtunnel.machinery.tree import Tree, encode


def names(tree: dict[str, object]) -> list[str]:
    items = tree["items"]
    assert isinstance(items, list)
    return [item["metadata"]["name"] for item in items]


def fill(api: Api, path: str, count: int) -> None:
    for index in range(count):
        api.post(f"{path}/configmaps", config(f"m{index:02}"))


def test_items_of_a_built_in_list_do_not_repeat_their_kind(api: Api, ns: str) -> None:
    fill(api, ns, 1)

    (item,) = api.get(f"{ns}/configmaps")["items"]
    assert list(item) == ["metadata"]


@given(count=st.integers(0, 7), limit=st.integers(1, 4))
def test_pages_together_are_the_list(count: int, limit: int) -> None:
    api = Api()
    path = api.namespace()
    fill(api, path, count)
    seen, token = [], ""

    while True:
        page = api.get(f"{path}/configmaps?limit={limit}&continue={token}")
        seen += names(page)
        token = page["metadata"].get("continue", "")
        if not token:
            break
        assert page["metadata"]["remainingItemCount"] == count - len(seen)

    assert seen == [f"m{index:02}" for index in range(count)]


def test_later_pages_are_as_old_as_the_first(api: Api, ns: str) -> None:
    fill(api, ns, 3)
    first = api.get(f"{ns}/configmaps?limit=1")
    api.delete(f"{ns}/configmaps/m01")
    api.post(f"{ns}/configmaps", config("m01b"))

    rest = api.get(f"{ns}/configmaps?continue={first['metadata']['continue']}")

    assert names(rest) == ["m01", "m02"]
    assert rest["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


def test_a_forgotten_page_offers_another_token(api: Api, ns: str) -> None:
    fill(api, ns, 3)
    token = api.get(f"{ns}/configmaps?limit=1")["metadata"]["continue"]
    api.post(f"{ns}/configmaps", config("m99"))
    api.store.compact(api.store.revision)

    status, gone = api.send("GET", f"{ns}/configmaps?continue={token}")

    assert (status, gone["reason"]) == (410, "Expired")
    rest = api.get(f"{ns}/configmaps?continue={gone['metadata']['continue']}")
    assert names(rest) == ["m01", "m02", "m99"]


def test_a_list_as_of_a_revision(api: Api, ns: str) -> None:
    revision = api.post(f"{ns}/configmaps", config("a"))["metadata"]["resourceVersion"]
    api.post(f"{ns}/configmaps", config("b"))

    exact = f"resourceVersionMatch=Exact&resourceVersion={revision}"
    assert names(api.get(f"{ns}/configmaps?{exact}")) == ["a"]
    assert names(api.get(f"{ns}/configmaps?resourceVersion={revision}")) == ["a", "b"]
    assert names(api.get(f"{ns}/configmaps?resourceVersion=0&limit=1")) == ["a", "b"]


def test_the_future_is_refused_with_a_hint_to_wait(api: Api, ns: str) -> None:
    answer = api.answer("GET", f"{ns}/configmaps?resourceVersion=99999999")

    assert answer.status == 504
    assert ("Retry-After", "1") in answer.headers


@pytest.mark.parametrize("token", ["x", "e30", "eyJ2IjoiYSJ9"])
def test_a_token_that_is_none_is_refused(api: Api, ns: str, token: str) -> None:
    assert api.refused("GET", f"{ns}/configmaps?continue={token}")[0] == 400


def test_a_table_shows_what_is_asked_for(api: Api, ns: str) -> None:
    fill(api, ns, 1)
    table = "application/json;as=Table;v=v1;g=meta.k8s.io"

    default = api.get(f"{ns}/configmaps", accept=table)
    assert default["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    whole = api.get(f"{ns}/configmaps?includeObject=Object", accept=table)
    assert whole["rows"][0]["object"]["kind"] == "ConfigMap"
    assert api.get(f"{ns}/configmaps?includeObject=None", accept=table)["rows"][0]["object"] is None
    assert api.refused("GET", f"{ns}/configmaps?includeObject=X", accept=table)[0] == 400


def test_metadata_of_one_and_of_many(api: Api, ns: str) -> None:
    fill(api, ns, 1)
    one = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
    many = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"

    assert api.get(f"{ns}/configmaps/m00", accept=one)["kind"] == "PartialObjectMetadata"
    assert api.get(f"{ns}/configmaps", accept=many)["kind"] == "PartialObjectMetadataList"
    assert api.refused("GET", f"{ns}/configmaps", accept=one)[0] == 406


TOKENS = {
    "a way out": ({"v": "meta.k8s.io/v1", "rv": -1, "start": "../../"}, "not valid: ../../"),
    "no revision": ({"v": "meta.k8s.io/v1", "rv": 0, "start": "a"}, "incorrect encoded start"),
    "another version": ({"v": "x", "rv": 1, "start": "a"}, "recognize this encoded version x"),
}


@pytest.mark.parametrize(("token", "words"), TOKENS.values(), ids=TOKENS)
def test_a_token_that_was_made_up_is_refused(api: Api, ns: str, token: Tree, words: str) -> None:
    made = base64.urlsafe_b64encode(encode(token)).decode().rstrip("=")

    code, message = api.refused("GET", f"{ns}/configmaps?limit=1&continue={made}")

    assert (code, words in message) == (400, True), message

from __future__ import annotations

import pytest
from tests.apiserver.api import Api


@pytest.mark.parametrize(
    ("query", "want"),
    [
        ("labelSelector=app=x", ["a"]),
        ("labelSelector=app!=x", ["b"]),
        ("fieldSelector=metadata.name=b", ["b"]),
        ("fieldSelector=spec.nodeName=n1", ["b"]),
        ("fieldSelector=spec.nodeName!=n1,metadata.namespace=ns", ["a"]),
        ("labelSelector=app=x&fieldSelector=spec.nodeName=n1", []),
        ("", ["a", "b"]),
    ],
)
def test_objects_are_selected(api: Api, ns: str, query: str, want: list[str]) -> None:
    api.post(
        f"{ns}/pods",
        {
            "metadata": {"name": "a", "labels": {"app": "x"}},
            "spec": {"containers": [{"name": "c", "image": "x"}]},
        },
    )
    api.pod(ns, "b", nodeName="n1")

    found = api.get(f"{ns}/pods?{query}")["items"]

    assert [item["metadata"]["name"] for item in found] == want


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("labelSelector=a in x", "unable to parse requirement"),
        ("fieldSelector=a>b", "can't understand"),
        ("fieldSelector=spec.foo=b", "field label not supported: spec.foo"),
    ],
)
def test_a_selector_that_is_none_is_refused(api: Api, ns: str, query: str, words: str) -> None:
    code, text = api.refused("GET", f"{ns}/pods?{query.replace(' ', '%20')}")

    assert code == 400
    assert words in text

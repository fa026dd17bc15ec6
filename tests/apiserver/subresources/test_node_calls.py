from __future__ import annotations

import pytest
from tests.apiserver.api import Api, obj

REFUSED = {
    "an unknown container": ("log?container=zz", 400, "container zz is not valid for pod p"),
    "a negative count": ("log?tailLines=-1", 422, "must be greater than or equal to 0"),
    "two times": (
        "log?sinceSeconds=5&sinceTime=2026-01-01T00:00:00Z", 422,
        "at most one of `sinceTime` or `sinceSeconds`",
    ),
    "no node yet": ("exec?command=ls", 400, "pod p does not have a host assigned"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "code", "words"), REFUSED.values(), ids=REFUSED)
def test_what_can_be_said_without_the_node(
    api: Api, ns: str, call: str, code: int, words: str
) -> None:
    api.pod(ns)

    found, text = api.refused("GET", f"{ns}/pods/p/{call}")

    assert (found, words in text) == (code, True)


def test_a_pod_without_node_has_an_empty_log(api: Api, ns: str) -> None:
    api.pod(ns)

    answer = api.answer("GET", f"{ns}/pods/p/log")
    assert (answer.status, answer.body) == (204, b"")


def test_a_missing_node_is_not_found_and_a_played_one_says_so(api: Api, ns: str) -> None:
    api.pod(ns, nodeName="n1")
    assert api.refused("GET", f"{ns}/pods/p/log") == (404, 'pods "n1" not found')

    api.post("/api/v1/nodes", obj("v1", "Node", "n1"))
    code, text = api.refused("GET", f"{ns}/pods/p/log")
    assert code == 503
    assert "its pods are played, so there is nothing to read" in text


def test_one_of_several_containers_must_be_named(api: Api, ns: str) -> None:
    api.pod(ns, containers=[{"name": "a", "image": "x"}, {"name": "b", "image": "x"}])

    code, text = api.refused("GET", f"{ns}/pods/p/log")
    assert code == 400
    assert "choose one of: [a b]" in text


def test_nothing_is_behind_a_proxy(api: Api, ns: str) -> None:
    api.post("/api/v1/nodes", obj("v1", "Node", "n1"))

    assert api.refused("GET", "/api/v1/nodes/n1/proxy")[0] == 503
    assert api.refused("GET", "/api/v1/nodes/n2/proxy")[0] == 404

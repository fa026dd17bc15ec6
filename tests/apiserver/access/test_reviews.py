from __future__ import annotations

from tests.apiserver.api import Api

ROOT = "/apis/authorization.k8s.io/v1"
PODS = {"namespace": "ns", "verb": "list", "resource": "pods"}


def test_may_i(api: Api) -> None:
    path, body = f"{ROOT}/selfsubjectaccessreviews", {"spec": {"resourceAttributes": PODS}}

    assert api.post(path, body)["status"] == {"allowed": True}
    assert api.post(path, body, user="alice")["status"] == {"allowed": False}


def test_may_they(api: Api) -> None:
    path = f"{ROOT}/subjectaccessreviews"
    spec = {"user": "x", "groups": ["system:masters"], "resourceAttributes": PODS}

    assert api.post(path, {"spec": spec})["status"]["allowed"]
    paths = {"user": "x", "nonResourceAttributes": {"verb": "get", "path": "/y"}}
    assert not api.post(path, {"spec": paths})["status"]["allowed"]
    assert api.refused("POST", path, {"spec": {"resourceAttributes": PODS}})[0] == 422


def test_a_local_review_stays_in_its_namespace(api: Api, ns: str) -> None:
    path = f"{ROOT}/namespaces/ns/localsubjectaccessreviews"

    found = api.post(path, {"spec": {"user": "x", "resourceAttributes": PODS}})
    assert found["metadata"]["namespace"] == "ns"
    elsewhere = {**PODS, "namespace": "other"}
    body = {"spec": {"user": "x", "resourceAttributes": elsewhere}}
    assert api.refused("POST", path, body)[0] == 400


def test_nothing_asked_is_refused(api: Api) -> None:
    code, text = api.refused("POST", f"{ROOT}/selfsubjectaccessreviews", {"spec": {}})

    assert code == 422
    assert "exactly one of" in text


def test_what_may_i(api: Api) -> None:
    path = f"{ROOT}/selfsubjectrulesreviews"

    status = api.post(path, {"spec": {"namespace": "ns"}}, user="alice")["status"]
    assert status["incomplete"] is False
    assert any("selfsubjectreviews" in rule["resources"] for rule in status["resourceRules"])
    assert any("/version" in rule["nonResourceURLs"] for rule in status["nonResourceRules"])


def test_who_am_i_and_whose_is_this(api: Api) -> None:
    root = "/apis/authentication.k8s.io/v1"

    me = api.post(f"{root}/selfsubjectreviews", {}, user="alice")["status"]["userInfo"]
    assert (me["username"], me["groups"]) == ("alice", ["devs", "system:authenticated"])
    theirs = api.post(f"{root}/tokenreviews", {"spec": {"token": "alice"}})["status"]
    assert theirs["user"]["uid"] == "alice-uid"
    nobodys = api.post(f"{root}/tokenreviews", {"spec": {"token": "x"}})["status"]
    assert nobodys["error"] == "invalid bearer token"


def test_reviews_are_only_posted(api: Api) -> None:
    assert api.refused("GET", f"{ROOT}/selfsubjectaccessreviews")[0] == 405

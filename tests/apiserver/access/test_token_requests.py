from __future__ import annotations

import pytest
from tests.apiserver.api import Api

REVIEW = "/apis/authentication.k8s.io/v1/tokenreviews"


def test_a_token_says_when_it_expires(api: Api, ns: str) -> None:
    made = api.post(f"{ns}/serviceaccounts/default/token", {"spec": {"expirationSeconds": 700}})

    assert made["status"]["expirationTimestamp"] == "2027-01-15T08:11:40Z"
    assert made["status"]["token"].count(".") == 2


@pytest.mark.parametrize("seconds", [5, (1 << 32) + 1])
def test_too_short_and_too_long_lives_are_refused(api: Api, ns: str, seconds: int) -> None:
    body = {"spec": {"expirationSeconds": seconds}}

    assert api.refused("POST", f"{ns}/serviceaccounts/default/token", body)[0] == 422


def test_a_token_bound_to_a_pod_dies_with_it(api: Api, ns: str) -> None:
    api.pod(ns)
    bound = {"kind": "Pod", "apiVersion": "v1", "name": "p"}
    made = api.post(f"{ns}/serviceaccounts/default/token", {"spec": {"boundObjectRef": bound}})
    review = {"spec": {"token": made["status"]["token"]}}

    assert api.post(REVIEW, review)["status"]["authenticated"]
    api.delete(f"{ns}/pods/p")
    assert "authenticated" not in api.post(REVIEW, review)["status"]


def test_a_token_is_good_for_its_audiences_only(api: Api, ns: str) -> None:
    made = api.post(f"{ns}/serviceaccounts/default/token", {"spec": {"audiences": ["x"]}})
    token = made["status"]["token"]

    assert api.refused("GET", "/api/v1/pods", user=token)[0] == 401
    reviewed = api.post(REVIEW, {"spec": {"token": token, "audiences": ["x"]}})["status"]
    assert (reviewed["authenticated"], reviewed["audiences"]) == (True, ["x"])


def test_what_is_missing_cannot_be_bound_to(api: Api, ns: str) -> None:
    path = f"{ns}/serviceaccounts/default/token"

    gone = {"spec": {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "p"}}}
    assert api.refused("POST", path, gone)[0] == 404
    odd = {"spec": {"boundObjectRef": {"kind": "X", "apiVersion": "v1", "name": "p"}}}
    refusal = api.refused("POST", path, odd)
    assert refusal == (400, "cannot bind token to object of type /v1, Kind=X")


def test_a_request_for_another_account_is_refused(api: Api, ns: str) -> None:
    path = f"{ns}/serviceaccounts/default/token"

    assert api.refused("POST", path, {"metadata": {"name": "x"}})[0] == 422
    assert api.refused("POST", path, {"metadata": {"namespace": "x"}})[0] == 400

from __future__ import annotations

import pytest
from tests.apiserver.api import Api

from windtunnel.apiserver.access.authentication import impersonated
from windtunnel.apiserver.request import Request
from windtunnel.machinery.errors import BadRequest

REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


def test_a_wrong_token_is_refused_and_none_at_all_is_anonymous(api: Api) -> None:
    assert api.refused("GET", "/api/v1/pods", user="wrong") == (401, "Unauthorized")
    code, text = api.refused("GET", "/api/v1/pods", user="")
    assert code == 403
    assert 'User "system:anonymous"' in text


def test_a_service_account_token_lives_as_long_as_its_account(api: Api, ns: str) -> None:
    made = api.post(f"{ns}/serviceaccounts/default/token", {"spec": {}})
    token = made["status"]["token"]

    who = api.post(REVIEWS, REVIEW, user=token)["status"]["userInfo"]
    assert who["username"] == "system:serviceaccount:ns:default"
    assert "system:serviceaccounts:ns" in who["groups"]

    api.delete(f"{ns}/serviceaccounts/default")
    assert api.refused("POST", REVIEWS, REVIEW, user=token)[0] == 401


def test_a_service_account_token_expires(api: Api, ns: str) -> None:
    made = api.post(f"{ns}/serviceaccounts/default/token", {"spec": {"expirationSeconds": 600}})
    api.clock.move_to(api.clock.now() + 601)

    assert api.refused("POST", REVIEWS, REVIEW, user=made["status"]["token"])[0] == 401


def test_impersonation_is_read_from_headers() -> None:
    headers = {"impersonate-user": "x", "impersonate-group": "a\nb", "impersonate-extra-k": "v"}

    user = impersonated(Request("GET", "/", headers=headers))

    assert user is not None
    assert user.groups == ("a", "b", "system:authenticated")
    assert user.extra == {"k": ("v",)}
    assert impersonated(Request("GET", "/")) is None


def test_an_impersonated_service_account_is_in_its_groups() -> None:
    headers = {"impersonate-user": "system:serviceaccount:n:a"}

    user = impersonated(Request("GET", "/", headers=headers))

    assert user is not None
    assert "system:serviceaccounts:n" in user.groups


NOBODY = {
    "a group": ({"impersonate-group": "a\nb"}, 'UID:"", Groups:[]string{"a", "b"}, Extra:'),
    "no group": ({"impersonate-group": ""}, 'Groups:[]string{""}'),
    "a uid": (
        {"impersonate-uid": "u"},
        'UID:"u", Groups:[]string(nil), Extra:map',
    ),
    "extra": ({"impersonate-extra-k": "v"}, 'Extra:map[string][]string{"k":[]string{"v"}}}'),
}


@pytest.mark.parametrize(("headers", "words"), NOBODY.values(), ids=NOBODY)
def test_nobody_can_be_impersonated_without_a_name(headers: dict[str, str], words: str) -> None:
    with pytest.raises(BadRequest, match="without impersonating a user name") as refused:
        impersonated(Request("GET", "/", headers=headers))

    assert words in refused.value.message

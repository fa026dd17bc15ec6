from __future__ import annotations

import pytest
from tests.apiserver.api import Api, config


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/readyz/ping"])
def test_the_server_is_well_for_anybody(api: Api, path: str) -> None:
    answer = api.answer("GET", path, user="admin")

    assert (answer.status, answer.body) == (200, b"ok")
    assert answer.content_type.startswith("text/plain")


def test_in_detail_too(api: Api) -> None:
    assert api.answer("GET", "/readyz?verbose").body.endswith(b"readyz check passed\n")


def test_the_version_is_public_and_the_api_is_not(api: Api) -> None:
    assert api.get("/version", user="")["gitVersion"] == "v1.36.3"
    assert api.refused("GET", "/api", user="")[0] == 403


def test_trailing_slashes_are_accepted(api: Api) -> None:
    for path in ("/api/", "/apis/", "/version/", "/apis/apps/v1/"):
        assert api.answer("GET", path).status == 200


def test_the_root_lists_paths_and_the_keys_are_published(api: Api) -> None:
    assert api.get("/")["paths"][0] == "/.well-known/openid-configuration"
    assert api.get("/openid/v1/jwks")["keys"]
    assert api.get("/.well-known/openid-configuration")["issuer"]


def test_an_unknown_path_is_a_plain_404(api: Api) -> None:
    answer = api.answer("GET", "/nope")

    assert (answer.status, answer.body) == (404, b"404 page not found\n")


def test_history_is_forgotten_on_demand(api: Api, ns: str) -> None:
    api.post(f"{ns}/configmaps", config("m"))

    assert api.post("/windtunnel/compact", {})["status"] == "Success"
    assert api.store.compacted == api.store.revision
    assert api.refused("POST", "/windtunnel/compact", {}, user="alice")[0] == 403


@pytest.mark.parametrize("path", ["/version", "/api", "/api/v1", "/apis/apps/v1"])
def test_what_is_only_read_cannot_be_written(api: Api, path: str) -> None:
    for method in ("POST", "OPTIONS", "FOO"):
        assert api.refused(method, path, {})[0] == 405
    assert api.get(path)


def test_other_paths_take_any_method_for_a_read(api: Api) -> None:
    assert api.ok("FOO", "/")["paths"]
    assert api.answer("FOO", "/healthz").body == b"ok"

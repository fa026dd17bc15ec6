from __future__ import annotations

import pytest
from tests.apiserver.api import Api, config


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("PATCH", "/api/v1/namespaces/ns/configmaps", 405),
        ("FOO", "/api/v1/namespaces/ns/configmaps", 405),
        ("POST", "/api/v1/pods", 405),
        ("DELETE", "/api/v1/pods", 405),
        ("DELETE", "/api/v1/namespaces", 405),
        ("POST", "/api/v1/namespaces/ns/configmaps/m", 405),
        ("GET", "/api/v1/pods/p", 404),
        ("GET", "/api/v1/namespaces/ns/nodes", 404),
        ("GET", "/api/v1/foos", 404),
        ("GET", "/apis/apps/v9/deployments", 404),
    ],
)
def test_what_a_path_does_not_know(api: Api, ns: str, method: str, path: str, code: int) -> None:
    body = {} if method in ("POST", "PATCH") else None

    assert api.refused(method, path, body)[0] == code


def test_an_unknown_group_is_a_plain_404(api: Api) -> None:
    assert api.answer("GET", "/apis/foo.io/v1/bars").body == b"404 page not found\n"


def test_options_of_a_delete_come_in_any_form(api: Api, ns: str) -> None:
    for name in ("a", "b", "c"):
        api.post(f"{ns}/configmaps", config(name, metadata={"finalizers": ["a.b/c"]}))
    yaml = b"propagationPolicy: Orphan\n"

    left = api.delete(f"{ns}/configmaps/a", yaml, content_type="application/yaml")
    assert "orphan" in left["metadata"]["finalizers"]
    left = api.delete(f"{ns}/configmaps/b?propagationPolicy=Foreground")
    assert "foregroundDeletion" in left["metadata"]["finalizers"]
    code, text = api.refused("DELETE", f"{ns}/configmaps/c", b'{"foo"')
    assert code == 400
    assert text == "couldn't get version/kind; json parse error: unexpected end of JSON input"


def test_a_table_is_never_made_of_a_deleted_object(api: Api, ns: str) -> None:
    api.pod(ns)

    gone = api.delete(f"{ns}/pods/p", accept="application/json;as=Table;v=v1;g=meta.k8s.io")
    assert gone["kind"] == "Pod"

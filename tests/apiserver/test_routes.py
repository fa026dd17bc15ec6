from __future__ import annotations

import pytest

from windtunnel.apiserver.routes import name_selected, parse

CASES = {
    "a list": ("GET", "/api/v1/namespaces/a/pods", "", ("list", "", "a", "pods", "", "")),
    "a list everywhere": (
        "GET",
        "/apis/apps/v1/deployments",
        "",
        ("list", "apps", "", "deployments", "", ""),
    ),
    "an object": ("GET", "/api/v1/namespaces/a/pods/p", "", ("get", "", "a", "pods", "p", "")),
    "a subresource": (
        "GET",
        "/api/v1/namespaces/a/pods/p/log",
        "",
        ("get", "", "a", "pods", "p", "log"),
    ),
    "a namespace lies in itself": (
        "GET",
        "/api/v1/namespaces/a",
        "",
        ("get", "", "a", "namespaces", "a", ""),
    ),
    "its status too": (
        "PUT",
        "/api/v1/namespaces/a/status",
        "",
        ("update", "", "a", "namespaces", "a", "status"),
    ),
    "a watch by query": ("GET", "/api/v1/pods", "watch=1", ("watch", "", "", "pods", "", "")),
    "a watch by path": (
        "GET",
        "/api/v1/watch/namespaces/a/pods/p",
        "",
        ("watch", "", "a", "pods", "p", ""),
    ),
    "a watch of one name is judged by that name": (
        "GET",
        "/api/v1/pods",
        "watch=true&fieldSelector=metadata.name=p",
        ("watch", "", "", "pods", "p", ""),
    ),
    "watch on an object is a plain get": (
        "GET",
        "/api/v1/namespaces/a/pods/p",
        "watch=1",
        ("get", "", "a", "pods", "p", ""),
    ),
    "delete of many": (
        "DELETE",
        "/api/v1/namespaces/a/pods",
        "",
        ("deletecollection", "", "a", "pods", "", ""),
    ),
    "delete of one": ("DELETE", "/api/v1/nodes/n", "", ("delete", "", "", "nodes", "n", "")),
}


@pytest.mark.parametrize(("method", "path", "query", "want"), CASES.values(), ids=CASES)
def test_a_resource_path(method: str, path: str, query: str, want: tuple[str, ...]) -> None:
    pairs = [tuple(part.split("=", 1)) for part in query.split("&") if part]

    route = parse(method, path, pairs)  # type: ignore[arg-type]

    assert route.is_resource
    found = (
        route.verb,
        route.group,
        route.namespace,
        route.resource,
        route.name,
        route.subresource,
    )
    assert found == want


@pytest.mark.parametrize(
    "path", ["/", "/api", "/apis/apps", "/apis/apps/v1", "/version", "/readyz"]
)
def test_other_paths_are_judged_by_the_path_itself(path: str) -> None:
    route = parse("GET", path)

    assert not route.is_resource
    assert (route.verb, route.path) == ("get", path)


def test_empty_parts_make_a_path_malformed() -> None:
    assert parse("GET", "/api//v1/namespaces").malformed


@pytest.mark.parametrize(
    ("selector", "name"), [("metadata.name=a", "a"), ("a=b,metadata.name==x", "x"), ("a=b", "")]
)
def test_the_name_in_a_field_selector(selector: str, name: str) -> None:
    assert name_selected(selector) == name

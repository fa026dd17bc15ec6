from __future__ import annotations

import pytest
from tests.apiserver.api import Api
from tests.apiserver.test_custom import CRDS, definition

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


@pytest.mark.parametrize("path", ["/api", "/apis"])
def test_one_document_tells_everything_once(api: Api, path: str) -> None:
    answer = api.answer("GET", path, accept=AGGREGATED)
    headers = dict(answer.headers)

    assert answer.content_type == (
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    )
    again = api.answer("GET", path, accept=AGGREGATED, headers={"if-none-match": headers["ETag"]})
    assert (again.status, again.body) == (304, b"")


def test_old_clients_ask_group_by_group(api: Api) -> None:
    assert api.get("/api")["versions"] == ["v1"]
    assert "apps" in [group["name"] for group in api.get("/apis")["groups"]]
    names = [each["name"] for each in api.get("/apis/apps/v1")["resources"]]
    assert names[:3] == ["controllerrevisions", "daemonsets", "daemonsets/status"]
    assert api.refused("GET", "/apis/apps/v9")[0] == 404


def test_a_custom_kind_changes_the_documents(api: Api) -> None:
    before = dict(api.answer("GET", "/apis", accept=AGGREGATED).headers)["ETag"]

    api.post(CRDS, definition())

    after = dict(api.answer("GET", "/apis", accept=AGGREGATED).headers)["ETag"]
    assert before != after
    (foos, *parts) = api.get("/apis/x.io/v1")["resources"]
    assert foos["shortNames"] == ["fo"]
    assert [each["name"] for each in parts] == ["foos/status", "foos/scale"]
    assert foos["storageVersionHash"]

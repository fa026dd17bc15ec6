from __future__ import annotations

from tests.apiserver.api import Api
from tests.apiserver.test_custom import CRDS, definition


def test_a_document_with_its_hash_may_be_kept_for_ever(api: Api) -> None:
    index = api.get("/openapi/v3")["paths"]

    answer = api.answer("GET", index["apis/apps/v1"]["serverRelativeURL"])

    assert answer.status == 200
    assert any("immutable" in value for _, value in answer.headers)
    plain = api.answer("GET", "/openapi/v3/apis/apps/v1")
    assert not any("immutable" in value for _, value in plain.headers)
    tag = dict(plain.headers)["ETag"]
    kept = api.answer("GET", "/openapi/v3/apis/apps/v1", headers={"if-none-match": tag})
    assert kept.status == 304


def test_an_unknown_document_is_not_found(api: Api) -> None:
    assert api.answer("GET", "/openapi/v3/apis/nope/v1").status == 404


def test_a_custom_group_has_a_document_that_kubectl_understands(api: Api) -> None:
    before = set(api.get("/openapi/v3")["paths"])
    api.post(CRDS, definition())

    assert set(api.get("/openapi/v3")["paths"]) - before == {"apis/x.io/v1"}
    document = api.get("/openapi/v3/apis/x.io/v1")
    patch = document["paths"]["/apis/x.io/v1/namespaces/{namespace}/foos/{name}"]["patch"]
    assert patch["x-kubernetes-group-version-kind"]["kind"] == "Foo"
    assert "fieldValidation" in [each["name"] for each in patch["parameters"]]
    schema = document["components"]["schemas"]["io.x.v1.Foo"]
    assert schema["properties"]["spec"]["properties"]["n"]["type"] == "integer"

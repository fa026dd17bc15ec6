from __future__ import annotations

from typing import Any

import pytest

from tests.apiserver.api import MERGE, Api, obj

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "n": {"type": "integer", "maximum": 9},
                "color": {"type": "string", "default": "red"},
            },
        },
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}
PARTS = {
    "status": {},
    "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"},
}


def version(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "served": True, "storage": False, "schema": {"openAPIV3Schema": SCHEMA},
            **fields}  # fmt: skip


def definition(*versions: dict[str, Any], scope: str = "Namespaced") -> dict[str, Any]:
    return obj(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "foos.x.io",
        spec={
            "group": "x.io",
            "scope": scope,
            "names": {"plural": "foos", "kind": "Foo", "shortNames": ["fo"]},
            "versions": list(versions) or [version("v1", storage=True, subresources=PARTS)],
        },
    )


@pytest.fixture
def foos(api: Api, ns: str) -> str:
    api.post(CRDS, definition())
    return "/apis/x.io/v1/namespaces/ns/foos"


def foo(**spec: Any) -> dict[str, Any]:
    return obj("x.io/v1", "Foo", "f", spec=spec)


def test_a_definition_is_established_and_served_at_once(api: Api, foos: str) -> None:
    crd = api.get(f"{CRDS}/foos.x.io")

    states = {each["type"]: each["status"] for each in crd["status"]["conditions"]}
    assert states == {"NamesAccepted": "True", "Established": "True"}
    assert crd["status"]["acceptedNames"]["singular"] == "foo"
    assert api.get(foos)["items"] == []


def test_its_objects_are_defaulted_pruned_and_judged(api: Api, foos: str) -> None:
    made = api.post(foos, foo(n=3, bogus=1))
    assert made["spec"] == {"n": 3, "color": "red"}
    assert list(made) == sorted(made)

    code, text = api.refused("POST", foos, {**foo(n=10), "metadata": {"name": "g"}})
    assert code == 422
    assert "should be less than or equal to 9" in text
    assert api.refused("POST", f"{foos}?fieldValidation=Strict", foo(bogus=1))[0] == 400


def test_status_and_spec_are_written_apart(api: Api, foos: str) -> None:
    api.post(foos, {**foo(n=1), "status": {"n": 5}})
    assert "status" not in api.get(f"{foos}/f")

    seen = api.patch(f"{foos}/f/status", {"status": {"n": 2}, "spec": {"n": 9}})
    assert (seen["spec"]["n"], seen["status"]["n"]) == (1, 2)
    assert seen["metadata"]["generation"] == 1
    changed = api.patch(f"{foos}/f", {"status": {"n": 7}, "spec": {"n": 4}})
    assert (changed["spec"]["n"], changed["status"]["n"]) == (4, 2)
    assert changed["metadata"]["generation"] == 2


def test_its_scale(api: Api, foos: str) -> None:
    api.post(foos, foo(n=3))

    assert api.get(f"{foos}/f/scale")["spec"] == {"replicas": 3}
    api.patch(f"{foos}/f/scale", {"spec": {"replicas": 5}})
    assert api.get(f"{foos}/f")["spec"]["n"] == 5


def test_a_put_must_name_the_revision(api: Api, foos: str) -> None:
    api.post(foos, foo(n=3))

    assert api.refused("PUT", f"{foos}/f", foo(n=4))[0] == 422


def test_strategic_merge_is_unknown_to_it(api: Api, foos: str) -> None:
    api.post(foos, foo(n=3))

    status, _ = api.send(
        "PATCH", f"{foos}/f", {}, content_type="application/strategic-merge-patch+json"
    )
    assert status == 415


def test_columns_and_selectable_fields(api: Api, ns: str) -> None:
    column = {"name": "Num", "type": "integer", "jsonPath": ".spec.n"}
    extra = {
        "additionalPrinterColumns": [column],
        "selectableFields": [{"jsonPath": ".spec.color"}],
    }
    api.post(CRDS, definition(version("v1", storage=True, **extra)))
    foos = "/apis/x.io/v1/namespaces/ns/foos"
    api.post(foos, foo(n=3, color="blue"))

    table = api.get(foos, accept="application/json;as=Table;v=v1;g=meta.k8s.io")
    assert [each["name"] for each in table["columnDefinitions"]] == ["Name", "Num"]
    assert table["rows"][0]["cells"] == ["f", 3]
    assert len(api.get(f"{foos}?fieldSelector=spec.color=blue")["items"]) == 1
    assert api.get(f"{foos}?fieldSelector=spec.color=red")["items"] == []
    assert api.refused("GET", f"{foos}?fieldSelector=spec.n=3")[1] == (
        "field label not supported: spec.n"
    )


def test_versions_show_the_same_objects(api: Api, ns: str) -> None:
    old = version("v1", deprecated=True, deprecationWarning="use v2")
    api.post(CRDS, definition(old, version("v2", storage=True)))
    api.post("/apis/x.io/v1/namespaces/ns/foos", foo(n=3))

    read = api.get("/apis/x.io/v2/namespaces/ns/foos/f")
    assert (read["apiVersion"], read["spec"]["n"]) == ("x.io/v2", 3)
    answer = api.answer("GET", "/apis/x.io/v1/namespaces/ns/foos")
    assert ("Warning", '299 - "use v2"') in answer.headers
    group = api.get("/apis/x.io")
    assert group["preferredVersion"]["version"] == "v2"


def test_what_is_not_served_is_not_found(api: Api, ns: str) -> None:
    api.post(CRDS, definition(version("v1", storage=True), version("v2", served=False)))

    answer = api.answer("GET", "/apis/x.io/v2/namespaces/ns/foos")
    assert (answer.status, answer.body) == (404, b"404 page not found\n")


def test_a_cluster_wide_kind_lies_in_no_namespace(api: Api, ns: str) -> None:
    api.post(CRDS, definition(scope="Cluster"))

    assert api.post("/apis/x.io/v1/foos", foo(n=1))["metadata"]["name"] == "f"
    assert api.answer("GET", "/apis/x.io/v1/namespaces/ns/foos").status == 404


def test_a_definition_takes_its_objects_with_it(api: Api, foos: str) -> None:
    api.post(foos, {**foo(n=1), "metadata": {"name": "f", "finalizers": ["a.b/c"]}})
    api.post(foos, {**foo(n=1), "metadata": {"name": "g"}})

    left = api.delete(f"{CRDS}/foos.x.io")
    assert left["status"]["conditions"][-1]["type"] == "Terminating"
    assert [each["metadata"]["name"] for each in api.get(foos)["items"]] == ["f"]
    assert api.refused("POST", foos, foo(n=1))[0] == 405
    api.patch(f"{foos}/f", {"metadata": {"finalizers": None}}, MERGE)
    assert api.refused("GET", f"{CRDS}/foos.x.io")[0] == 404
    assert api.answer("GET", foos).status == 404


def test_a_changed_definition_counts_for_the_next_request(api: Api, foos: str) -> None:
    assert api.refused("POST", foos, foo(n=50))[0] == 422
    wider = {"maximum": 99, "type": "integer"}
    schema = {**SCHEMA, "properties": {"spec": {"type": "object", "properties": {"n": wider}}}}

    crd = api.get(f"{CRDS}/foos.x.io")
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema
    api.put(f"{CRDS}/foos.x.io", crd)

    assert api.post(foos, foo(n=50))["spec"] == {"n": 50}


def test_definitions_are_served_again_after_a_restart(api: Api, foos: str) -> None:
    from windtunnel.apiserver.core import Core
    from windtunnel.kinds import Catalogue, builtin_kinds

    again = Core(api.store, Catalogue(builtin_kinds()), api.clock)

    assert again.catalogue.by_path("x.io", "v1", "foos") is not None

from __future__ import annotations

import json

from tests.apiserver.api import Api, config

from windtunnel.apiserver.forms.rendering import warning_headers


def test_warnings_are_quoted() -> None:
    assert warning_headers(['a "b"']) == [("Warning", '299 - "a \\"b\\""')]


def test_yaml_and_indented_json(api: Api, ns: str) -> None:
    api.post(f"{ns}/configmaps", config("m", data={"a": "b"}))

    yaml = api.answer("GET", f"{ns}/configmaps/m", accept="application/yaml")
    assert yaml.content_type == "application/yaml"
    assert yaml.body.startswith(b"apiVersion: v1\ndata:\n  a: b\n")
    pretty = api.answer("GET", f"{ns}/configmaps/m?pretty=true").body
    assert pretty.startswith(b'{\n  "kind": "ConfigMap"')
    assert api.answer("GET", f"{ns}/configmaps?pretty=true").body.startswith(b"{\n")


def test_bodies_end_with_a_newline_and_begin_with_the_kind(api: Api, ns: str) -> None:
    body = api.answer("POST", f"{ns}/configmaps", config("m")).body

    assert body.endswith(b"\n")
    assert list(json.loads(body))[:3] == ["kind", "apiVersion", "metadata"]


def test_a_finished_pod_says_so_in_its_row(api: Api, ns: str) -> None:
    api.pod(ns)
    api.patch(f"{ns}/pods/p/status", {"status": {"phase": "Failed"}})

    table = api.get(f"{ns}/pods", accept="application/json;as=Table;v=v1;g=meta.k8s.io")
    (condition,) = table["rows"][0]["conditions"]
    assert (condition["type"], condition["reason"]) == ("Completed", "Failed")

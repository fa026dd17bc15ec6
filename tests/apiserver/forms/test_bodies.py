from __future__ import annotations

import pytest

from windtunnel.apiserver.forms.bodies import MalformedBody, go_json_error, read_object, read_yaml
from windtunnel.apiserver.forms.negotiation import JSON, YAML
from windtunnel.kinds.served.registry import Catalogue, builtin_kinds
from windtunnel.machinery.errors import BadRequest

KIND = Catalogue(builtin_kinds()).by_resource("configmaps")
JSON_ERRORS = {
    "nothing": (b"", "unexpected end of JSON input"),
    "cut": (b'{"a"', "unexpected end of JSON input"),
    "no value": (b'{"a":x}', "invalid character 'x' looking for beginning of value"),
    "no colon": (b'{"a" 1}', "invalid character '1' after object key"),
    "two values": (b"{} {}", "invalid character '{' after top-level value"),
}
REFUSED = {
    "nothing": (b"", "unexpected end of JSON input (<empty>)"),
    "a text": (b'"hello"', "cannot unmarshal string into Go value of type struct"),
    "another group": (
        b'{"apiVersion":"foo/v1","kind":"ConfigMap"}',
        'no kind "ConfigMap" is registered for version "foo/v1"',
    ),
    "a retired version": (
        b'{"apiVersion":"apps/v1beta1","kind":"ConfigMap"}',
        "the API version in the data (apps/v1beta1) does not match",
    ),
    "another kind": (
        b'{"apiVersion":"v1","kind":"Pod"}',
        "converting (v1.Pod) to (core.ConfigMap): unknown conversion",
    ),
}


@pytest.mark.parametrize(("body", "words"), JSON_ERRORS.values(), ids=JSON_ERRORS)
def test_malformed_json_is_described_as_go_does(body: bytes, words: str) -> None:
    assert go_json_error(body) == words


@pytest.mark.parametrize(("body", "words"), REFUSED.values(), ids=REFUSED)
def test_a_body_that_is_no_such_object_is_refused(body: bytes, words: str) -> None:
    with pytest.raises(BadRequest) as refused:
        read_object(KIND, JSON, body)

    assert words in refused.value.message


def test_kind_and_version_may_be_left_out() -> None:
    assert read_object(KIND, JSON, b"{}") == {"kind": "ConfigMap", "apiVersion": "v1"}


def test_only_the_first_document_of_yaml_is_read() -> None:
    tree = read_object(KIND, YAML, b"metadata: {name: m}\n---\nfoo: bar\n")

    assert tree["metadata"] == {"name": "m"}
    assert "foo" not in tree


def test_yaml_is_read_as_kubernetes_reads_it() -> None:
    text = b"a: yes\nb: n\nc: 2026-01-01\n7: x\ntrue: t\n"

    assert read_yaml(text) == {"a": True, "b": False, "c": "2026-01-01", "7": "x", "true": "t"}


def test_malformed_yaml_names_the_line() -> None:
    with pytest.raises(MalformedBody, match="yaml: line 1: did not find expected node content"):
        read_yaml(b"a: [")

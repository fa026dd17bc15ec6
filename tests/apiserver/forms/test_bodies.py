from __future__ import annotations

import pytest

from windtunnel.apiserver.forms.bodies import go_json_error, read_object
from windtunnel.apiserver.forms.negotiation import JSON, YAML
from windtunnel.kinds import Catalogue, builtin_kinds
from windtunnel.machinery.errors import BadRequest

KIND = Catalogue(builtin_kinds()).by_resource("configmaps")
JSON_ERRORS = {
    "nothing": (b"", "unexpected end of JSON input"),
    "cut": (b'{"a"', "unexpected end of JSON input"),
    "no value": (b'{"a":x}', "invalid character 'x' looking for beginning of value"),
    "no colon": (b'{"a" 1}', "invalid character '1' after object key"),
    "a number that never ends": (b'{"a":' + b"9" * 5000 + b"}", "number has too many digits"),
    "two values": (b"{} {}", "invalid character '{' after top-level value"),
}
REFUSED = {
    "nothing": (b"", "unexpected end of JSON input (<empty>)"),
    "a number for a version": (
        b'{"apiVersion":1,"kind":2}',
        "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct "
        'field .apiVersion of type string ({"apiVersion":1,"kind":2})',
    ),
    "an object for a kind": (b'{"kind":{}}', "cannot unmarshal object into Go struct field .kind"),
    "lists in lists": (b'{"a":' + b"[" * 400 + b"]" * 400 + b"}", "'[' exceeded max depth"),
    "objects in objects": (b'{"a":' * 9000 + b"1" + b"}" * 9000, "'{' exceeded max depth"),
    "a depth that never ends": (b"[" * 200_000, "'[' exceeded max depth"),
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

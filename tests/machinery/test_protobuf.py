from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.machinery.errors import BadRequest
from windtunnel.machinery.protobuf import decode_protobuf

MAGIC = b"k8s\x00"


def field(number: int, value: bytes | int) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(value: int) -> bytes:
    value &= 2**64 - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def body(api_version: str, kind: str, *fields: bytes) -> bytes:
    names = field(1, api_version.encode()) + field(2, kind.encode())
    return MAGIC + field(1, names) + field(2, b"".join(fields))


def spec_of(tree: dict[str, Any]) -> Any:
    return tree["spec"]


@pytest.mark.shared
def test_recorded_bodies_are_read_as_the_server_reads_them(
    protobuf_cases: list[dict[str, Any]],
) -> None:
    wrong = {
        case["id"]: tree
        for case in protobuf_cases
        if (tree := decode_protobuf(base64.b64decode(case["protobuf_base64"]))[2]) != case["json"]
    }

    assert wrong == {}


def test_the_envelope_names_the_kind() -> None:
    api_version, kind, tree = decode_protobuf(body("v1", "ConfigMap", field(1, field(1, b"m"))))

    assert (api_version, kind) == ("v1", "ConfigMap")
    assert tree == {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}}


def test_zeros_of_omitempty_fields_are_left_out_and_pointers_keep_theirs() -> None:
    host_network, priority = field(11, 0), field(25, 0)

    _, _, tree = decode_protobuf(body("v1", "Pod", field(2, host_network + priority)))

    assert spec_of(tree) == {"priority": 0}


def test_a_negative_number_is_twos_complement() -> None:
    _, _, tree = decode_protobuf(body("v1", "Pod", field(2, field(25, -7))))

    assert spec_of(tree) == {"priority": -7}


def test_entries_of_maps_and_items_of_lists_are_gathered() -> None:
    entry = field(1, b"a") + field(2, b"1")

    _, _, tree = decode_protobuf(body("v1", "ConfigMap", field(2, entry), field(2, field(1, b"b"))))

    assert tree["data"] == {"a": "1", "b": ""}


def test_unknown_fields_are_passed_over() -> None:
    _, _, tree = decode_protobuf(body("v1", "ConfigMap", field(99, b"?"), field(98, 5)))

    assert tree == {"apiVersion": "v1", "kind": "ConfigMap"}


REFUSED = {
    "no magic": (b"{}", "does not begin with"),
    "an unknown kind": (body("v1", "Podd"), 'no kind "Podd" is registered for version "v1"'),
    "a kind of another version": (body("v2", "Pod"), 'no kind "Pod" is registered'),
    "a truncated length": (MAGIC + b"\x0a\x7f", "unexpected EOF"),
    "an endless varint": (MAGIC + b"\x08" + b"\xff" * 20, "integer overflow"),
    "a wire type that is none": (MAGIC + b"\x0f", "illegal wireType 7"),
    "field number 0": (MAGIC + b"\x00\x00", "illegal tag 0"),
    "a number where a message must be": (body("v1", "Pod", field(2, 1)), "wrong wireType"),
    "a text that is not UTF-8": (body("v1", "ConfigMap", field(1, field(1, b"\xff"))), "UTF-8"),
}


@pytest.mark.parametrize(("raw", "why"), REFUSED.values(), ids=REFUSED.keys())
def test_a_body_that_cannot_be_read_is_refused(raw: bytes, why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        decode_protobuf(raw)


def test_messages_that_nest_without_end_are_refused() -> None:
    schema = b""
    for _ in range(400):
        schema = field(27, schema)  # JSONSchemaProps.not

    crd = "apiextensions.k8s.io/v1"
    version = field(1, b"v1") + field(4, field(1, schema))
    with pytest.raises(BadRequest, match="lie inside each other"):
        decode_protobuf(body(crd, "CustomResourceDefinition", field(2, field(7, version))))


@given(garbage=st.binary(max_size=200))
def test_garbage_is_read_or_refused_but_never_breaks(garbage: bytes) -> None:
    for raw in (garbage, MAGIC + garbage, body("v1", "Pod", garbage)):
        try:
            decode_protobuf(raw)
        except BadRequest:
            continue


@given(data=st.data())
def test_a_damaged_body_is_read_or_refused_but_never_breaks(data: st.DataObject) -> None:
    container = field(1, field(1, b"c") + field(8, field(1, field(1, b"cpu"))))
    raw = bytearray(body("v1", "Pod", field(1, field(8, field(1, 5))), field(2, container)))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))

    try:
        decode_protobuf(bytes(raw))
    except BadRequest:
        return

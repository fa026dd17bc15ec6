"""Turns request bodies into trees: JSON, YAML or protobuf, with Go's words for what is wrong.

Clients and tests compare these texts, so a malformed body is described as encoding/json and the
real server's decoders describe it. Duplicate keys are looked for only where the number of keys in
the text and in the tree differ: a second parse is then paid for.
"""

from __future__ import annotations

import json
from typing import Any, Final

from windtunnel.apiserver.forms.negotiation import PROTOBUF, YAML
from windtunnel.apiserver.forms.nesting import bracket_too_deep, is_too_deep, may_be_too_deep
from windtunnel.apiserver.forms.yaml_text import MalformedYaml, read_yaml
from windtunnel.kinds import Kind
from windtunnel.machinery.errors import BadRequest
from windtunnel.machinery.protobuf import decode_protobuf
from windtunnel.machinery.schema import json_word
from windtunnel.machinery.tree import Tree, decode

_SUMMARY_LENGTH: Final = 30
_TYPE_META: Final = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)
_HEAD: Final = ("apiVersion", "kind")
_TOO_DEEP: Final = "exceeded max depth"
_NO_KIND: Final = "couldn't get version/kind; json parse error: "
_RETIRED: Final = frozenset(
    {
        "admissionregistration.k8s.io/v1beta1", "apps/v1beta1", "apps/v1beta2",
        "autoscaling/v2beta1", "autoscaling/v2beta2", "batch/v1beta1",
        "certificates.k8s.io/v1beta1", "coordination.k8s.io/v1beta1", "discovery.k8s.io/v1beta1",
        "events.k8s.io/v1beta1",
        "extensions/v1beta1", "networking.k8s.io/v1beta1", "node.k8s.io/v1beta1", "policy/v1beta1",
        "rbac.authorization.k8s.io/v1beta1", "scheduling.k8s.io/v1beta1", "storage.k8s.io/v1beta1",
    }
)  # fmt: skip
"""Group versions that the real server can still read but serves no more."""


class MalformedBody(ValueError):
    """The body is no object; the message is Go's."""


def read_json(body: bytes) -> Any:
    """Return what a JSON body spells.

    Raises:
        MalformedBody: It is no JSON.
    """
    try:
        value = decode(body)
    except (ValueError, RecursionError):
        raise MalformedBody(go_json_error(body)) from None
    if may_be_too_deep(body) and is_too_deep(value):
        raise MalformedBody(go_json_error(body))
    return value


def go_json_error(body: bytes) -> str:
    """Say in Go's words what is wrong with a JSON text."""
    text = body.decode("utf-8", "replace")
    bracket = bracket_too_deep(text) if may_be_too_deep(body) else ""
    if bracket:
        return f"invalid character '{bracket}' exceeded max depth"
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        position = error.pos
        if position >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
            return "unexpected end of JSON input"
        where = {
            "Expecting value": "looking for beginning of value",
            "Expecting property name enclosed in double quotes": (
                "looking for beginning of object key string"
            ),
            "Expecting ':' delimiter": "after object key",
            "Expecting ',' delimiter": "after object key:value pair",
            "Extra data": "after top-level value",
            "Illegal trailing comma before end of object": (
                "looking for beginning of object key string"
            ),
            "Illegal trailing comma before end of array": "looking for beginning of value",
        }.get(error.msg, "looking for beginning of value")
        return f"invalid character {text[position]!r} {where}"
    except ValueError:
        return "number has too many digits"
    return "invalid UTF-8 in string"


def _summary(body: bytes) -> str:
    if not body:
        return "<empty>"
    tail = " ..." if len(body) > _SUMMARY_LENGTH else ""
    cut = body[:_SUMMARY_LENGTH]
    return (cut.decode("utf-8", "replace") if body[:1] == b"{" else cut.hex()) + tail


def _unrecognized(kind: Kind, why: str, body: bytes) -> BadRequest:
    return BadRequest(
        f"the object provided is unrecognized (must be of type {kind.kind}): {why} "
        f"({_summary(body)})"
    )


def cannot_handle(kind: Kind, why: str, *, given: str = "", version: str = "") -> BadRequest:
    """Return the error for a body that is an object, but not a sound one of this kind."""
    return BadRequest(
        f'{given or kind.kind} in version "{version or kind.version}" cannot be handled as a '
        f"{kind.kind}: {why}"
    )


def read_object(kind: Kind, media: str, body: bytes) -> Tree:
    """Return the object in a body, its kind and apiVersion filled in where a client may omit them.

    Args:
        kind: What the path speaks of.
        media: JSON, YAML or PROTOBUF.
        body: The body as sent.

    Raises:
        BadRequest: The body is no such object.
    """
    if media == PROTOBUF:
        api_version, kind_name, tree = read_protobuf(kind, body)
        tree.setdefault("apiVersion", api_version)
        tree.setdefault("kind", kind_name)
    else:
        try:
            tree = read_fields(body, media)
        except MalformedBody as problem:
            raise _unrecognized(kind, str(problem), body) from None
    _check_kind(kind, tree, body)
    return tree


def read_protobuf(kind: Kind, body: bytes) -> tuple[str, str, Tree]:
    """Return version, kind and object of a protobuf body.

    Raises:
        BadRequest: It cannot be read, or is too deep.
    """
    try:
        api_version, kind_name, tree = decode_protobuf(body)
    except RecursionError:
        raise _unrecognized(kind, _TOO_DEEP, body) from None
    if is_too_deep(tree):
        raise _unrecognized(kind, _TOO_DEEP, body)
    return api_version, kind_name, tree


def read_fields(body: bytes, media: str) -> Tree:
    """Return the object in a JSON or YAML body, its kind and apiVersion texts if they are there.

    Raises:
        MalformedBody: It is no such object.
    """
    if media == YAML:
        try:
            tree = read_yaml(body)
        except MalformedYaml as problem:
            raise MalformedBody(str(problem)) from None
    else:
        try:
            tree = read_json(body)
        except MalformedBody as problem:
            raise MalformedBody(_NO_KIND + str(problem)) from None
    if tree is None:
        return {}
    if mistake := head_mistake(tree):
        raise MalformedBody(mistake)
    fields: Tree = tree
    return fields


def head_mistake(tree: Any) -> str:
    """Say in Go's words why no kind and version can be read of a value; "" if they can."""
    if not isinstance(tree, dict):
        return (
            f"{_NO_KIND}json: cannot unmarshal {json_word(tree)} into Go value of type {_TYPE_META}"
        )
    for field, value in tree.items():
        if field in _HEAD and value is not None and not isinstance(value, str):
            return (
                f"{_NO_KIND}json: cannot unmarshal {json_word(value)} into Go struct field "
                f".{field} of type string"
            )
    return ""


def _check_kind(kind: Kind, tree: Tree, body: bytes) -> None:
    given, api_version = tree.get("kind") or "", tree.get("apiVersion") or ""
    if kind.custom and not given:
        text = body.decode("utf-8", "replace").strip()
        raise _unrecognized(kind, f"Object 'Kind' is missing in '{text}'", body)
    if given in ("", kind.kind) and api_version in ("", kind.api_version):
        tree["kind"], tree["apiVersion"] = kind.kind, kind.api_version
        return
    version = api_version.rpartition("/")[2] or kind.version
    if api_version and api_version != kind.api_version:
        if api_version in _RETIRED or kind.custom:
            raise BadRequest(
                f"the API version in the data ({api_version}) does not match the expected API "
                f"version ({kind.api_version})"
            )
        why = unregistered(given or kind.kind, api_version)
        raise cannot_handle(kind, why, given=given, version=version)
    raise cannot_handle(kind, unconvertible(kind, version, given), given=given, version=version)


def unregistered(kind: str, api_version: str) -> str:
    """Say that no such kind is known in a version."""
    return (
        f'no kind "{kind}" is registered for version "{api_version}" in scheme '
        '"pkg/runtime/scheme.go:111"'
    )


def unconvertible(kind: Kind, version: str, given: str) -> str:
    """Say that what is given is another kind than what is wanted."""
    internal = (kind.group.partition(".")[0] or "core") if not kind.custom else kind.group
    return f"converting ({version}.{given}) to ({internal}.{kind.kind}): unknown conversion"

"""Turns request bodies into trees: JSON, YAML or protobuf, with Go's words for what is wrong.

Clients and tests compare these texts, so a malformed body is described as encoding/json and the
real server's decoders describe it. Duplicate keys are looked for only where the number of keys in
the text and in the tree differ: a second parse is then paid for.
"""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar, Final

import yaml

from windtunnel.apiserver.forms.negotiation import PROTOBUF, YAML
from windtunnel.kinds import Kind
from windtunnel.machinery.errors import BadRequest
from windtunnel.machinery.protobuf import decode_protobuf
from windtunnel.machinery.tree import Tree, decode

_SUMMARY_LENGTH: Final = 30
_TYPE_META: Final = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)
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


class _Loader(yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader):  # type: ignore[misc]
    """YAML as Kubernetes reads it: times stay texts, single letters y and n are booleans."""

    bool_values: ClassVar = {**yaml.SafeLoader.bool_values, "y": True, "n": False}


_Loader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^[yYnN]$"), list("yYnN"))


def _as_json(value: Any) -> Any:
    """Return a YAML value with the keys that it has as JSON."""
    if isinstance(value, dict):
        return {_key(key): _as_json(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_as_json(part) for part in value]
    return value


def _key(key: Any) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    return "null" if key is None else str(key)


def read_yaml(text: bytes) -> Any:
    """Return the first document of a YAML text.

    Raises:
        MalformedBody: It is no YAML.
    """
    loader = _Loader(text)
    try:
        return _as_json(loader.get_data()) if loader.check_data() else None
    except yaml.YAMLError as error:
        raise MalformedBody(_yaml_words(error)) from None
    finally:
        loader.dispose()


def _yaml_words(error: yaml.YAMLError) -> str:
    problem = getattr(error, "problem", None) or str(error)
    mark = getattr(error, "problem_mark", None)
    number = 0 if mark is None else mark.line + isinstance(error, yaml.scanner.ScannerError)
    line = f"line {number}: " if number else ""
    return f"error converting YAML to JSON: yaml: {line}{problem}"


def read_json(body: bytes) -> Any:
    """Return what a JSON body spells.

    Raises:
        MalformedBody: It is no JSON.
    """
    try:
        return decode(body)
    except ValueError:
        raise MalformedBody(go_json_error(body)) from None


def go_json_error(body: bytes) -> str:
    """Say in Go's words what is wrong with a JSON text."""
    text = body.decode("utf-8", "replace")
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
    return "invalid UTF-8 in string"


def _go_type(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    if isinstance(value, (int, float)):
        return "number"
    return "array"


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
        api_version, kind_name, tree = decode_protobuf(body)
        tree.setdefault("apiVersion", api_version)
        tree.setdefault("kind", kind_name)
    else:
        try:
            tree = read_yaml(body) if media == YAML else read_json(body)
        except MalformedBody as problem:
            words = str(problem)
            if media != YAML:
                words = f"couldn't get version/kind; json parse error: {words}"
            raise _unrecognized(kind, words, body) from None
        if tree is None:
            tree = {}
        if not isinstance(tree, dict):
            why = (
                "couldn't get version/kind; json parse error: json: cannot unmarshal "
                f"{_go_type(tree)} into Go value of type {_TYPE_META}"
            )
            raise _unrecognized(kind, why, body)
    _check_kind(kind, tree, body)
    return tree


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
        why = (
            f'no kind "{given or kind.kind}" is registered for version "{api_version}" in scheme '
            '"pkg/runtime/scheme.go:111"'
        )
        raise cannot_handle(kind, why, given=given, version=version)
    internal = (kind.group.partition(".")[0] or "core") if not kind.custom else kind.group
    why = f"converting ({version}.{given}) to ({internal}.{kind.kind}): unknown conversion"
    raise cannot_handle(kind, why, given=given, version=version)

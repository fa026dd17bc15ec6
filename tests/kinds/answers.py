"""Answers of a real kube-apiserver (1.36.3), replayed against the pure rules of one kind.

``answers.jsonl.gz`` holds a line for each object that was sent: where, the body, what was answered;
for some, merge patches tried on it one by one (dry run), a status written, and how the object was
then read in a table or another version. Recorded on an empty server without controllers; uids,
times and ages are replaced. Never edit an answer: record it again.
"""

from __future__ import annotations

import gzip
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.kinds.replay import kind_of

from windtunnel.kinds.rules.metadata import validate_metadata_create, validate_metadata_update
from windtunnel.kinds.served.kind import Context, Kind
from windtunnel.kinds.workload import scale
from windtunnel.machinery.errors import ApiError, Invalid
from windtunnel.machinery.patches import merge_patch
from windtunnel.machinery.schema import decode_check, fill_defaults
from windtunnel.machinery.timestamp import parse_time
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import Violation

_FILE = Path(__file__).with_name("answers.jsonl.gz")
_UID = "11111111-1111-1111-1111-111111111111"
_CREATED = "2026-11-29T19:28:00Z"
_NOW = parse_time("2026-11-29T19:58:00Z")
_VOLATILE = ("uid", "resourceVersion", "creationTimestamp", "generation")
_AGE = re.compile(r'"(\d+[smhdy]){1,2}"')
_VALUE = re.compile(r"value: (?=[\[{])")

DIFFERENT = {
    "hpa-behavior": "an empty list of policies is taken for none",
    "wh-bad-validatingwebhookconfigurations": "conditions in CEL are refused, not compiled",
    "wh-bad-mutatingwebhookconfigurations": "conditions in CEL are refused, not compiled",
    "vap-bad": "CEL is not compiled",
    "vapb-ok": "a binding warns that policies are not evaluated",
    "mapb-ok": "a binding warns that policies are not evaluated",
    "t-vapb": "a binding warns that policies are not evaluated",
    "dc-bad": "CEL is not compiled",
    "rc-bad": "admin access is judged by the label of the namespace, at admission",
    "rsl-bad": "the real server judges maps in random order",
    "crd-upd": "the recorded definition was established meanwhile",
    "crd-sch4": "schemas are judged in another order, and in other words",
    "crd-nover": "an empty list of versions is printed as null",
}
"""Answers that we know not to give, and why."""


@cache
def _recorded() -> list[Tree]:
    with gzip.open(_FILE, "rt") as lines:
        return [json.loads(line) for line in lines]


def answers(*modules: str) -> list[Any]:
    """Return the recorded cases of these modules as parameters, known differences marked."""
    found = []
    for case in _recorded():
        name = case["id"]
        if case["module"] not in modules:
            continue
        marks = []
        if name in DIFFERENT:
            marks = [pytest.mark.xfail(strict=True, reason=DIFFERENT[name])]
        found.append(pytest.param(case, id=name, marks=marks))
    return found


def _is_struct(value: Any) -> bool:
    if isinstance(value, dict):
        return any(
            (key[:1].isupper() and key.isidentifier()) or _is_struct(item)
            for key, item in value.items()
        )
    return isinstance(value, list) and any(_is_struct(item) for item in value)


def _comparable(text: str) -> str:
    """Replace dumps of Go structs, whose unset fields we do not print."""
    text, result, position = text.replace(_UID, "<UID>"), "", 0
    for match in _VALUE.finditer(text):
        if match.start() < position:
            continue
        value, end = json.JSONDecoder().raw_decode(text, match.end())
        if _is_struct(value):
            result += text[position : match.end()] + "<GO VALUE>"
            position = end
    return result + text[position:]


def _settle(kind: Kind, tree: Tree) -> None:
    decode_check(kind.structure(), tree, kind=kind.kind, version=kind.version)
    fill_defaults(kind.structure(), tree)
    kind.rules.default(tree)
    fill_defaults(kind.structure(), tree)


def _clean(tree: Tree) -> Tree:
    own: Tree = json.loads(json.dumps(tree).replace(_UID, "<UID>"))
    for key in _VOLATILE:
        own["metadata"].pop(key, None)
    return own


def _message(kind: Kind, name: str, violations: list[Violation]) -> str:
    # Events are judged as events of the core group, whatever they were sent as.
    group = "" if kind.kind == "Event" else kind.group
    return Invalid(kind.kind, group, name, violations).message


def _outcome(kind: Kind, tree: Tree, violations: list[Violation], warnings: list[str]) -> Tree:
    if violations:
        name = tree["metadata"]["name"]
        return {"message": _comparable(_message(kind, name, violations))}
    answer: Tree = {"object": _clean(tree)}
    if warnings:
        answer["warnings"] = warnings
    return answer


def _expected(answer: Tree) -> Tree:
    if "message" in answer:
        return {"message": _comparable(answer["message"])}
    return {key: answer[key] for key in ("object", "warnings") if key in answer}


def _created(kind: Kind, body: Tree) -> tuple[Tree, Tree]:
    tree: Tree = json.loads(json.dumps(body))
    try:
        _settle(kind, tree)
    except ApiError as refusal:
        return tree, {"message": refusal.message}
    metadata = tree["metadata"]
    metadata |= {"uid": _UID, "creationTimestamp": _CREATED, "resourceVersion": "5"}
    if kind.namespaced:
        metadata["namespace"] = "default"
    if kind.generation != "none":
        metadata["generation"] = 1
    kind.rules.prepare_create(tree, Context(now=_NOW))
    fill_defaults(kind.structure(), tree)
    violations = [*validate_metadata_create(tree, kind), *kind.rules.validate_create(tree)]
    return tree, _outcome(kind, tree, violations, kind.rules.warnings(tree, None))


def _changed(kind: Kind, old: Tree, patch: Tree, subresource: str) -> tuple[Tree, Tree]:
    new = merge_patch(json.loads(json.dumps(old)), json.loads(json.dumps(patch)))
    before: Tree = json.loads(json.dumps(old))
    _settle(kind, new)
    context = Context(now=_NOW)
    if subresource == "status":
        for key in new.keys() - {"status", "metadata", "kind", "apiVersion"}:
            new[key] = before.get(key)
        kind.rules.prepare_status(new, before, context)
        fill_defaults(kind.structure(), new)
        violations = list(kind.rules.validate_status(new, before))
        return new, _outcome(kind, new, violations, [])
    kind.rules.prepare_update(new, before, context)
    fill_defaults(kind.structure(), new)
    violations = [
        *validate_metadata_update(new, before, kind),
        *kind.rules.validate_update(new, before),
    ]
    return new, _outcome(kind, new, violations, kind.rules.warnings(new, before))


def _cells(kind: Kind, tree: Tree) -> list[Any]:
    assert kind.rules.cells is not None
    text = json.dumps(kind.rules.cells(tree, _NOW)).replace(_UID, "<UID>")
    cells: list[Any] = json.loads(_AGE.sub('"<AGE>"', text).replace(_CREATED, "<TIME>"))
    return cells


def _read(kind: Kind, tree: Tree, path: str) -> Tree:
    if path.endswith("/scale"):
        return {"object": _clean(scale.scale_of(tree))}
    other, _ = kind_of(path)
    own: Tree = json.loads(json.dumps(tree))
    if kind.to_stored is not None:
        own = kind.to_stored(own)
    if other.from_stored is not None:
        own = other.from_stored(own)
    fill_defaults(other.structure(), own)
    return {"object": _clean(own), "cells": _cells(other, own)}


def play(case: Tree) -> None:
    """Send one case through the rules of its kind and compare every answer."""
    kind, _ = kind_of(case["path"])
    tree, outcome = _created(kind, case["body"])
    assert outcome == _expected(case["answer"])
    for step in case.get("patches", ()):
        _, outcome = _changed(kind, tree, step["patch"], case.get("subresource", ""))
        assert outcome == _expected(step["answer"]), step["patch"]
    if "then" in case:
        changed, outcome = _changed(kind, tree, case["then"]["patch"], "status")
        assert outcome == _expected(case["then"]["answer"])
        tree = changed if "object" in outcome else tree
    if "cells" in case:
        assert _cells(kind, tree) == case["cells"]
    for path, read in case.get("reads", {}).items():
        seen = _read(kind, tree, path)
        assert {key: seen[key] for key in read} == read, path

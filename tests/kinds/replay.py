"""Feeds recorded requests through the pure rules of kinds: decode, default, prepare, validate.

Only what needs no server is compared: refusals, warnings, what defaulting makes of an object, and
its table row. ``core_answers.jsonl.gz`` was recorded from kube-apiserver v1.36.3 (see NOTICE in
``kinds/served/recording``): probes of our own, mostly dry runs, each with the module it is about.
What admission and allocation add (tolerations, priority, addresses) was taken out of it.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from windtunnel.kinds import Catalogue
from windtunnel.kinds.network.service_allocation import assign
from windtunnel.kinds.pod.update import validate_ephemeral_update, validate_resize
from windtunnel.kinds.rules.metadata import validate_metadata_create, validate_metadata_update
from windtunnel.kinds.served.kind import Context, Kind
from windtunnel.kinds.served.registry import builtin_kinds
from windtunnel.machinery.errors import ApiError, Invalid
from windtunnel.machinery.patches import merge_patch, strategic_patch
from windtunnel.machinery.schema import decode_check, fill_defaults
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import Violation

CATALOGUE = Catalogue(builtin_kinds())
NOW = Context(now=1_800_000_000.0)
_RECORDED = Path(__file__).with_name("core_answers.jsonl.gz")
_PATH = re.compile(
    r"/(?:api/(?P<core>v1)|apis/(?P<group>[^/]+)/(?P<version>[^/]+))"
    r"(?:/namespaces/(?P<namespace>[^/?]+)(?=/))?/(?P<plural>[^/?]+)"
)
_DIFF = re.compile(
    r"(previously negative\)|for bound claims|may not be changed|immutable after creation)\n.*",
    re.DOTALL,
)
_VALUE = re.compile(r"(?:Invalid|Duplicate) value: (?=[\[{])")
_AGE = re.compile(r"\d+[smhdy]\w*|<invalid>|<unknown>")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the rules say of a request: an object, or why not."""

    tree: Tree | None
    refusals: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def answers(module: str) -> list[Any]:
    """Return the recorded requests about one module, as parameters."""
    lines = gzip.decompress(_RECORDED.read_bytes()).splitlines()
    cases = [json.loads(line) for line in lines]
    return [pytest.param(case, id=case["id"]) for case in cases if case["module"] == module]


def kind_of(path: str) -> tuple[Kind, str]:
    """Return the kind that a path is about, and the namespace in it."""
    shape = _PATH.match(path)
    assert shape is not None, path
    version = shape["version"] or shape["core"]
    kind = CATALOGUE.by_path(shape["group"] or "", version, shape["plural"])
    assert kind is not None, path
    return kind, shape["namespace"] or ""


def settle(kind: Kind, tree: Tree) -> None:
    """Decode and default in place."""
    decode_check(kind.structure(), tree, kind=kind.kind, version=kind.version)
    fill_defaults(kind.structure(), tree)
    kind.rules.default(tree)


def create(path: str, body: Tree) -> Outcome:
    """Play a create without a server."""
    kind, namespace = kind_of(path)
    tree: Tree = json.loads(json.dumps(body))
    try:
        settle(kind, tree)
        metadata = tree.setdefault("metadata", {})
        if namespace:
            metadata["namespace"] = namespace
        if not metadata.get("name") and metadata.get("generateName"):
            metadata["name"] = metadata["generateName"] + "abcde"
        _admit(kind, tree)
        kind.rules.prepare_create(tree, NOW)
        _refuse(
            kind, tree, [*validate_metadata_create(tree, kind), *kind.rules.validate_create(tree)]
        )
    except ApiError as refusal:
        return Outcome(None, _texts(refusal))
    return Outcome(tree, (), tuple(kind.rules.warnings(tree, None)))


def change(path: str, subresource: str, stored: Tree, patch: Tree) -> Outcome:
    """Play a patch of a stored object without a server."""
    kind, _ = kind_of(path)
    old: Tree = json.loads(json.dumps(stored))
    copy, wanted = json.loads(json.dumps(old)), json.loads(json.dumps(patch))
    new: Tree = (
        strategic_patch(copy, wanted, kind.structure())
        if kind.resource == "pods"
        else merge_patch(copy, wanted)
    )
    try:
        settle(kind, new)
        if not subresource:
            _admit(kind, new, old)
        _refuse(kind, old, _judge_change(kind, subresource, new, old))
    except ApiError as refusal:
        return Outcome(None, _texts(refusal))
    return Outcome(new)


def _judge_change(kind: Kind, subresource: str, new: Tree, old: Tree) -> list[Violation]:
    rules = kind.rules
    found = validate_metadata_update(new, old, kind)
    if subresource == "status":
        new["spec"] = json.loads(json.dumps(old.get("spec")))
        rules.prepare_status(new, old, NOW)
        return found + rules.validate_status(new, old)
    rules.prepare_update(new, old, NOW)
    if subresource == "ephemeralcontainers":
        new["spec"] = {**old["spec"], "ephemeralContainers": new["spec"]["ephemeralContainers"]}
        return found + validate_ephemeral_update(new, old)
    if subresource == "resize":
        return found + validate_resize(new, old)
    return found + rules.validate_update(new, old)


class Addresses:
    """The addresses of a cluster with one service: what is asked for is judged."""

    def __init__(self) -> None:
        self._ports: set[int] = set()

    def next_address(self) -> str:
        return "10.96.0.9"

    def claim_address(self, address: str) -> str:
        if address == "10.96.0.1":
            return "provided IP is already allocated"
        if address.startswith("10.96."):
            return ""
        why = f"the provided IP ({address}) is not in the valid range."
        return f"{why} The range of valid IPs is 10.96.0.0/16"

    def next_port(self) -> int:
        return 30000

    def claim_port(self, port: int) -> str:
        if port in self._ports:
            return "provided port is already allocated"
        self._ports.add(port)
        if 30000 <= port <= 32767:
            return ""
        return "provided port is not in the valid range. The range of valid ports is 30000-32767"


def _admit(kind: Kind, tree: Tree, old: Tree | None = None) -> None:
    """Set what admission and allocation set before validation, as far as rules look at it."""
    if kind.resource == "pods":
        tree["spec"].setdefault("serviceAccountName", "default")
    if kind.resource == "services":
        _refuse(kind, tree, assign(tree, old, Addresses()))


def _refuse(kind: Kind, tree: Tree, violations: list[Violation]) -> None:
    if violations:
        raise Invalid(kind.kind, kind.group, tree["metadata"].get("name") or "", violations)


def _texts(refusal: ApiError) -> tuple[str, ...]:
    if isinstance(refusal, Invalid):
        return tuple(f"{each.field}: {each.message}" for each in refusal.violations)
    return (refusal.message,)


def masked(text: str) -> str:
    """Hide what we do not imitate: the text of diffs, and dumps of internal structs."""
    text = _DIFF.sub(r"\1 <DIFF>", text)
    value = _VALUE.search(text)
    if value is None:
        return text
    tree, end = json.JSONDecoder().raw_decode(text, value.end())
    if not re.search(r'"[A-Z]\w*":', json.dumps(tree)):
        return text
    return f"{text[: value.end()]}<GO>{text[end:]}"


def _differences(want: Any, got: Any, path: str = "") -> list[str]:
    """Return where ``got`` lacks or changes what is in ``want``."""
    if isinstance(want, dict) and isinstance(got, dict):
        return [
            line
            for key in want
            for line in _differences(want[key], got.get(key, "<absent>"), f"{path}.{key}")
        ]
    if isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        return [
            line
            for index, (one, other) in enumerate(zip(want, got, strict=True))
            for line in _differences(one, other, f"{path}[{index}]")
        ]
    return [] if want == got else [f"{path}: want {want!r}, got {got!r}"]


def judge(case: Tree) -> None:
    """Hold one recorded request, its changes and its table row against our rules."""
    outcome = create(case["path"], case["body"])
    _same_refusal(case["answer"], outcome)
    if not outcome.refusals:
        assert list(outcome.warnings) == case["answer"].get("warnings", [])
        assert _differences(case["object"], outcome.tree) == []
    for each in case.get("changes", ()):
        changed = change(case["path"], case["subresource"], case["stored"], each["patch"])
        _same_refusal(each, changed)
    if "row" in case:
        kind, _ = kind_of(case["path"])
        assert kind.rules.cells is not None
        row = kind.rules.cells(case["stored"], NOW.now)
        assert [_AGE.sub("<AGE>", str(cell)) for cell in row] == [
            _AGE.sub("<AGE>", str(cell)) for cell in case["row"]
        ]
        assert len(row) == len(kind.columns)


def _same_refusal(want: Tree, outcome: Outcome) -> None:
    # Maps have no order in the real server, so neither have violations about their entries.
    texts = want.get("causes") or ([want["message"]] if want["status"] >= 400 else [])
    assert Counter(map(masked, outcome.refusals)) == Counter(map(masked, texts))

"""Feeds recorded requests through the pure rules of kinds: decode, default, prepare, validate.

Only what needs no server can be compared so: refusals of validation, and what defaulting makes of
an object. Admission's share (tokens, tolerations, priority) is left out of the comparison.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from windtunnel.kinds.catalogue import Catalogue
from windtunnel.kinds.kind import Context, Kind
from windtunnel.kinds.metadata import validate_metadata_create
from windtunnel.kinds.registry import builtin_kinds
from windtunnel.machinery.errors import ApiError, Invalid
from windtunnel.machinery.schema import decode_check, fill_defaults
from windtunnel.machinery.tree import Tree

SHARED = Path(__file__).parents[3] / "shared"
GOLDEN = SHARED / "golden/api/public.jsonl"
CATALOGUE = Catalogue(builtin_kinds())
NOW = Context(now=1_700_000_000.0)
_PATH = re.compile(
    r"/(?:api/(?P<core>v1)|apis/(?P<group>[^/]+)/(?P<version>[^/]+))"
    r"(?:/namespaces/(?P<namespace>[^/?]+))?/(?P<plural>[^/?]+)(?:/(?P<name>[^/?]+))?"
    r"(?:/(?P<sub>[^/?]+))?"
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the rules say of a request: an object, or why not."""

    tree: Tree | None
    refusal: str
    warnings: tuple[str, ...] = ()


def cases(*kinds: str) -> list[Any]:
    """Return recorded creates of these kinds of case as parameters; one skipped where none are."""
    if not GOLDEN.exists():
        reason = "needs ../shared/golden/api (recorded answers beside the project)"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason), id="no-shared")]
    found = []
    for line in GOLDEN.read_text().splitlines():
        case = json.loads(line)
        if case["kind"] in kinds and case["request"]["method"] == "POST":
            found.append(pytest.param(case, id=case["id"], marks=pytest.mark.shared))
    return found


def kind_of(path: str) -> tuple[Kind, str]:
    """Return the kind that a path is about, and the namespace in it."""
    shape = _PATH.match(path)
    assert shape is not None, path
    kind = CATALOGUE.by_path(
        shape["group"] or "", shape["version"] or shape["core"], shape["plural"]
    )
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
        kind.rules.prepare_create(tree, NOW)
        violations = [*validate_metadata_create(tree, kind), *kind.rules.validate_create(tree)]
        if violations:
            raise Invalid(kind.kind, kind.group, metadata.get("name", ""), violations)
    except ApiError as refusal:
        return Outcome(None, refusal.message)
    return Outcome(tree, "", tuple(kind.rules.warnings(tree, None)))

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from windtunnel.kinds import Catalogue
from windtunnel.kinds.served.kind import Context, Kind
from windtunnel.kinds.served.registry import MODULES, builtin_kinds, structure_of


@pytest.mark.shared
def test_kinds_are_served_as_discovery_lists_them(shared: Path) -> None:
    path = shared / "golden/api/openapi/discovery_resources.json.gz"
    listed = json.loads(gzip.decompress(path.read_bytes()))
    want = {
        (document["groupVersion"], resource["name"]): resource
        for document in listed.values()
        for resource in document["resources"]
    }

    got = {}
    for kind in builtin_kinds():
        got[kind.api_version, kind.plural] = kind.verbs
        for name, sub in kind.subresources.items():
            got[kind.api_version, f"{kind.plural}/{name}"] = sub.verbs

    assert got.keys() == want.keys()
    assert all(list(verbs) == want[key]["verbs"] for key, verbs in got.items())


def test_every_declaration_belongs_to_a_kind_that_is_served() -> None:
    served = {kind.resource for kind in builtin_kinds()}
    declared = {
        resource.partition("/")[0] for module in MODULES for resource in module.DECLARATIONS
    }

    assert declared - served == set()


@pytest.mark.parametrize(
    "kind", builtin_kinds(), ids=lambda kind: f"{kind.resource}/{kind.version}"
)
def test_an_almost_empty_object_makes_no_rule_stumble(kind: Kind) -> None:
    rules = kind.rules
    tree = {"metadata": {"name": "x", "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"}}
    rules.default(tree)
    rules.prepare_create(tree, Context(now=0.0))
    rules.validate_create(tree)
    rules.warnings(tree, None)
    if rules.cells is not None:
        # The real server prints an age for IPAddresses that has no column.
        assert len(rules.cells(tree, 0.0)) >= len(kind.columns)


def test_shapes_are_linked_for_kinds_that_are_no_resources_too() -> None:
    assert structure_of("autoscaling", "v1", "Scale").fields["spec"].fields["replicas"]
    assert Catalogue(builtin_kinds()).by_resource("pods").structure().fields["spec"]

from __future__ import annotations

import pytest
from tests.kinds.answers import answers, play
from tests.kinds.replay import kind_of

from windtunnel.kinds.extension.customresourcedefinitions import RULES
from windtunnel.kinds.extension.definition_conditions import CLEANUP_FINALIZER
from windtunnel.kinds.rules.metadata import validate_metadata_update
from windtunnel.machinery.tree import Tree


@pytest.mark.parametrize("case", answers("customresourcedefinitions"))
def test_the_rules_say_what_the_real_server_says(case: Tree) -> None:
    play(case)


def test_the_finalizer_of_the_server_itself_may_stay() -> None:
    kind, _ = kind_of("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
    metadata = {"name": "w.x.io", "resourceVersion": "1", "finalizers": [CLEANUP_FINALIZER]}

    assert validate_metadata_update({"metadata": metadata}, {"metadata": metadata}, kind) == []


def test_what_versions_say_alike_is_judged_once() -> None:
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"a": {}}}}
    versions = [{"name": "v1", "schema": schema}, {"name": "v2", "schema": schema}]
    found = RULES.validate_create({"metadata": {}, "spec": {"versions": versions}})
    places = [violation.field for violation in found if "openAPIV3Schema" in violation.field]

    assert places == ["spec.validation.openAPIV3Schema.properties[a].type"]


def test_what_differs_is_judged_by_version() -> None:
    good, bad = {"type": "object"}, {"type": "object", "properties": {"a": {}}}
    versions = [
        {"name": "v1", "schema": {"openAPIV3Schema": good}},
        {"name": "v2", "schema": {"openAPIV3Schema": bad}},
    ]
    found = RULES.validate_create({"metadata": {}, "spec": {"versions": versions}})
    places = [violation.field for violation in found if "openAPIV3Schema" in violation.field]

    assert places == ["spec.versions[1].schema.openAPIV3Schema.properties[a].type"]

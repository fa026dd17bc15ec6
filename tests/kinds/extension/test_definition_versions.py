from __future__ import annotations

from typing import Any

import pytest

from windtunnel.kinds.extension.definition_versions import validate_versions

SCHEMA = {"openAPIV3Schema": {"type": "object"}}


def version(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "served": True, "storage": True, "schema": SCHEMA, **more}


CASES: dict[str, tuple[list[dict[str, Any]], str]] = {
    "one version that is stored": ([version("v1")], ""),
    "a name that is none": ([version("V1")], "spec.versions[0].name"),
    "two that are stored": ([version("v1"), version("v2")], "spec.versions"),
    "none that is stored": ([version("v1", storage=False)], "spec.versions"),
}


@pytest.mark.parametrize(("versions", "field"), CASES.values(), ids=CASES.keys())
def test_a_definition_stores_one_well_named_version(
    versions: list[dict[str, Any]], field: str
) -> None:
    found = validate_versions({"versions": versions})

    assert [each.field for each in found][:1] == ([field] if field else [])

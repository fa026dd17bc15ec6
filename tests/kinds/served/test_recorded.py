from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from windtunnel.kinds.served import recorded


def golden(shared: Path, name: str) -> Any:
    return json.loads(gzip.decompress((shared / "golden/api" / name).read_bytes()))


@pytest.mark.shared
def test_packaged_data_are_what_was_recorded(shared: Path) -> None:
    assert recorded.schemas() == golden(shared, "openapi/v3_all_schemas.json.gz")
    assert recorded.tables() == golden(shared, "tables.json.gz")
    assert recorded.bootstrap() == golden(shared, "bootstrap.json.gz")
    assert recorded.version() == golden(shared, "openapi/version.json.gz")


def test_every_openapi_path_has_a_document() -> None:
    for path in recorded.openapi_paths():
        assert json.loads(recorded.openapi_document(path))["openapi"].startswith("3.")


def test_start_up_objects_belong_to_whoever_asked() -> None:
    recorded.bootstrap()["/api/v1/namespaces"].clear()

    names = {tree["metadata"]["name"] for tree in recorded.bootstrap()["/api/v1/namespaces"]}
    assert names == {"default", "kube-node-lease", "kube-public", "kube-system"}

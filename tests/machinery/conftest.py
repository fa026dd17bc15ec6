"""Structures and recorded answers that the tests of this folder share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from windtunnel.kinds.served import recorded
from windtunnel.machinery.schema import Models, Structure

MODELS = Models({"components": {"schemas": recorded.schemas()}})


@pytest.fixture(scope="session")
def structure() -> Callable[[str], Structure]:
    """Find the structure of a model by the end of its name: ``core.v1.Pod``."""

    def find(name: str) -> Structure:
        return MODELS.structure(f"io.k8s.api.{name}")

    return find


@pytest.fixture(scope="session")
def cases(shared: Path) -> list[dict[str, Any]]:
    """All recorded API answers."""
    with (shared / "golden/api/public.jsonl").open() as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="session")
def protobuf_cases(shared: Path) -> Iterator[list[dict[str, Any]]]:
    """Pairs of protobuf and JSON."""
    with (shared / "golden/api/protobuf/public.jsonl").open() as lines:
        yield [json.loads(line) for line in lines]

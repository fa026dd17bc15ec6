"""A host of one's own, with a path short enough for sockets."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def host() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="dp") as name:
        root = Path(name)
        (root / "var/lib/kubelet/device-plugins").mkdir(parents=True)
        yield root

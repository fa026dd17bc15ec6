from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.nodes.kubelet.bench import Bench
from tests.world import World


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    world = World()
    made = Bench(world, tmp_path)
    yield made
    assert world.failures == []

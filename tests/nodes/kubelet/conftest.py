from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.nodes.kubelet.bench import Bench
from tests.world import World

from windtunnel.nodes.kubelet.runtime.engine import ContainerEngine
from windtunnel.nodes.kubelet.runtime.protocol import Isolation


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    world = World()
    made = Bench(world, tmp_path)
    yield made
    assert world.failures == []


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContainerEngine]:
    engine = ContainerEngine(tmp_path_factory.mktemp("engine") / "containers")
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def private(engine: ContainerEngine) -> ContainerEngine:
    """The runtime, where this machine allows namespaces."""
    if engine.isolation is not Isolation.NAMESPACES:
        pytest.skip(engine.isolation_message)
    return engine


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContainerEngine]:
    """A runtime of plain processes, whatever this machine allows."""
    engine = ContainerEngine(tmp_path_factory.mktemp("plain") / "containers", isolate=False)
    yield engine
    engine.close()


@pytest.fixture
def log_path(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "0.log"

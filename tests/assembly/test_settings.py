"""Wishes that contradict each other are refused before anything is touched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from windtunnel.assembly.settings import Settings
from windtunnel.errors import UsageError
from windtunnel.nodes.pools import PoolOrder

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "data for an ephemeral cluster": (
        {"ephemeral": True, "data_dir": Path("d")},
        "an ephemeral cluster has no data",
    ),
    "an unknown part": ({"without": frozenset({"etcd"})}, "there is no part etcd"),
    "a port below all ports": ({"port": -1}, "port -1 is not between"),
    "a port beyond all ports": ({"port": 65536}, "port 65536 is not between"),
    "the same pool twice": (
        {"pools": (PoolOrder(name="a"), PoolOrder(name="a", gpus=4))},
        "pool a is given twice",
    ),
}


@pytest.mark.parametrize(("wishes", "said"), REFUSED.values(), ids=REFUSED)
def test_refused(wishes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Settings(name="a", kubeconfig=Path("k"), **wishes)


def test_the_context_is_named_after_the_cluster() -> None:
    assert Settings(name="a", kubeconfig=Path("k")).context == "windtunnel-a"

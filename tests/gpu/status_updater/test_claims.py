"""Tests of which GPUs claims got."""

from __future__ import annotations

import pytest

from windtunnel.client import Change
from windtunnel.gpu.status_updater.claims import Claims
from windtunnel.machinery.tree import Key, encode


def allocated(*results: tuple[str, str]) -> Change:
    listed = [{"driver": driver, "device": device} for driver, device in results]
    tree = {"status": {"allocation": {"devices": {"results": listed}}}}
    return Change("MODIFIED", Key("ml", "c"), 1, encode(tree))


def test_the_gpus_of_a_claim_are_those_of_our_driver() -> None:
    claims = Claims()

    assert claims.take(allocated(("gpu.nvidia.com", "gpu-1"), ("other", "x")))
    assert not claims.take(allocated(("gpu.nvidia.com", "gpu-1")))
    assert claims.devices("ml", ("c",)) == ["gpu-1"]


def test_a_claim_that_is_not_there_is_said() -> None:
    claims = Claims()
    claims.take(allocated())
    claims.take(Change("DELETED", Key("ml", "c"), 2, b"{}"))

    with pytest.raises(ValueError, match="failed to get ResourceClaim c"):
        claims.devices("ml", ("c",))

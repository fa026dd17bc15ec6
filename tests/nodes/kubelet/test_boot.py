"""Who waits for devices when a node is switched on."""

from __future__ import annotations

from typing import Any

import pytest

from windtunnel.nodes.kubelet.boot import must_wait

GPU = "nvidia.com/gpu"


def pod(limits: dict[str, str]) -> dict[str, Any]:
    return {"spec": {"containers": [{"resources": {"limits": limits}}]}}


CASES: dict[str, tuple[dict[str, Any], dict[str, int], dict[str, int], bool]] = {
    "devices that are not there yet": (pod({GPU: "1"}), {GPU: 0}, {GPU: 0}, True),
    "too few of them": (pod({GPU: "2"}), {GPU: 2}, {GPU: 1}, True),
    "enough of them": (pod({GPU: "2"}), {GPU: 2}, {GPU: 2}, False),
    "no device at all": (pod({"cpu": "1"}), {GPU: 2}, {}, False),
    "a resource that no plugin had": (pod({"example.com/x": "1"}), {GPU: 2}, {}, False),
}


@pytest.mark.parametrize(("wanting", "known", "usable", "expected"), CASES.values(), ids=CASES)
def test_who_waits(
    wanting: dict[str, Any], known: dict[str, int], usable: dict[str, int], expected: bool
) -> None:
    assert must_wait(wanting, known, usable) is expected

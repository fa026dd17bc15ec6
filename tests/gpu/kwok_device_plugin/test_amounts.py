"""Tests of what a node lacks of what it should have."""

from __future__ import annotations

import msgspec
import pytest

from windtunnel.gpu.kwok_device_plugin.amounts import EquippedNode, GpuAmounts, lacking
from windtunnel.machinery.tree import Tree

CASES: dict[str, tuple[dict[str, str], dict[str, str], dict[str, str], set[str], Tree]] = {
    "what it has is not written": ({"a": "1"}, {"a": "1"}, {"a": "1"}, set(), {}),
    "what is wrong is written on both sides": (
        {"a": "1", "b": "2"},
        {"a": "2", "b": "2"},
        {"a": "1", "b": "2"},
        set(),
        {"capacity": {"a": "2"}, "allocatable": {"a": "1"}},
    ),
    "what has gone is taken away where it is there": (
        {"a": "1", "old": "1"},
        {"a": "1"},
        {"a": "1"},
        {"old", "older"},
        {"capacity": {"old": None}, "allocatable": {"old": None}},
    ),
}


@pytest.mark.parametrize(
    ("have", "capacity", "allocatable", "gone", "want"), CASES.values(), ids=CASES.keys()
)
def test_what_a_node_lacks_is_written(
    have: dict[str, str],
    capacity: dict[str, str],
    allocatable: dict[str, str],
    gone: set[str],
    want: Tree,
) -> None:
    node = msgspec.convert({"status": {"capacity": have, "allocatable": have}}, EquippedNode)

    assert lacking(node, GpuAmounts(capacity, allocatable), gone) == want

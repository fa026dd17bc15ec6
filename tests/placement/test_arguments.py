"""Plugin arguments: what is refused."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from windtunnel.placement import PLUGINS

RATIO = "RequestedToCapacityRatio"


def ratio(*points: tuple[int, int]) -> dict[str, Any]:
    shape = [{"utilization": use, "score": score} for use, score in points]
    return {"scoringStrategy": {"type": RATIO, "requestedToCapacityRatio": {"shape": shape}}}


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "an unknown field": ("NodeResourcesFit", {"ignored": []}, "unknown field `ignored`"),
    "a ratio without points": ("NodeResourcesFit", ratio(), "at least one point"),
    "points out of order": ("NodeResourcesFit", ratio((50, 1), (50, 2)), "must increase"),
    "a score above ten": ("NodeResourcesFit", ratio((0, 11)), "score of 0 to 10"),
    "an unknown strategy": ("NodeResourcesFit", {"scoringStrategy": {"type": "Best"}}, "Best"),
    "system defaults and constraints": (
        "PodTopologySpread", {"defaultConstraints": [{}]}, "need defaultingType List",
    ),
    "a weight above a hundred": (
        "InterPodAffinity", {"hardPodAffinityWeight": 101}, "must be 0 to 100",
    ),
    "no candidates at all": (
        "DefaultPreemption",
        {"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 0},
        "must not both be 0",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("plugin", "tree", "words"), REFUSED.values(), ids=REFUSED)
def test_refused(plugin: str, tree: dict[str, Any], words: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=words):
        msgspec.convert(tree, PLUGINS[plugin].arguments)


@pytest.mark.parametrize("plugin", [name for name, row in PLUGINS.items() if row.arguments])
def test_type_and_version_may_be_named(plugin: str) -> None:
    named = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": f"{plugin}Args"}

    assert msgspec.convert(named, PLUGINS[plugin].arguments)

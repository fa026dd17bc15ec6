"""Profiles: how plugin sets merge, point by point."""

from __future__ import annotations

from typing import Any

import pytest

from windtunnel.placement.rules.resource_fit import ResourceFit
from windtunnel.scheduler import read_configuration
from windtunnel.scheduler.profile import Profile

DEFAULT_SCORES = {
    "TaintToleration": 3,
    "NodeAffinity": 2,
    "NodeResourcesFit": 1,
    "PodTopologySpread": 2,
    "InterPodAffinity": 2,
    "DynamicResources": 2,
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
}


def made(plugins: dict[str, Any] | None = None, **arguments: dict[str, Any]) -> Profile:
    config = [{"name": name, "args": args} for name, args in arguments.items()]
    profile = {"plugins": plugins or {}, "pluginConfig": config}
    return read_configuration({"profiles": [profile]}).profiles[0]


def scores(profile: Profile) -> dict[str, int]:
    return {
        one.name: weight for one, weight in (*profile.rules.row_scores, *profile.rules.set_scores)
    }


def names(*plugins: str) -> list[dict[str, str]]:
    return [{"name": plugin} for plugin in plugins]


def test_the_default_profile_in_order() -> None:
    profile = made()

    assert [one.name for one in profile.rules.filters] == [
        "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts",
        "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity", "DynamicResources",
        "NodeDeclaredFeatures",
    ]  # fmt: skip
    assert scores(profile) == DEFAULT_SCORES
    assert profile.post_filters == ("DynamicResources", "DefaultPreemption")


CASES: dict[str, tuple[dict[str, Any], dict[str, int | None]]] = {
    "a new weight in place": (
        {"multiPoint": {"enabled": [{"name": "NodeResourcesFit", "weight": 7}]}},
        {"NodeResourcesFit": 7},
    ),
    "weight zero is one": (
        {"multiPoint": {"enabled": [{"name": "TaintToleration", "weight": 0}]}},
        {"TaintToleration": 1},
    ),
    "taken out everywhere": (
        {"multiPoint": {"disabled": names("ImageLocality")}}, {"ImageLocality": None},
    ),
    "taken out at one point": (
        {"score": {"disabled": names("NodeResourcesFit")}}, {"NodeResourcesFit": None},
    ),
    "the point's own weight wins": (
        {
            "multiPoint": {"enabled": [{"name": "NodeResourcesFit", "weight": 7}]},
            "score": {"enabled": [{"name": "NodeResourcesFit", "weight": 9}]},
        },
        {"NodeResourcesFit": 9},
    ),
    "all but one": (
        {"score": {"disabled": names("*"), "enabled": [{"name": "ImageLocality", "weight": 4}]}},
        dict.fromkeys(DEFAULT_SCORES) | {"ImageLocality": 4},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("plugins", "changed"), CASES.values(), ids=CASES)
def test_scores(plugins: dict[str, Any], changed: dict[str, int | None]) -> None:
    wanted = DEFAULT_SCORES | changed

    assert scores(made(plugins)) == {name: weight for name, weight in wanted.items() if weight}


def test_a_filter_disabled_at_its_point_still_scores() -> None:
    profile = made({"filter": {"disabled": names("NodeResourcesFit")}})

    assert "NodeResourcesFit" not in {one.name for one in profile.rules.filters}
    assert scores(profile) == DEFAULT_SCORES


def test_plugins_named_at_a_point_come_first_there() -> None:
    profile = made({"filter": {"enabled": names("NodePorts", "NodeName")}})

    assert [one.name for one in profile.rules.filters][:3] == [
        "NodePorts", "NodeName", "NodeUnschedulable",
    ]  # fmt: skip


def test_arguments_reach_their_rule() -> None:
    strategy = {"type": "MostAllocated", "resources": [{"name": "nvidia.com/gpu", "weight": 3}]}

    rules = made(NodeResourcesFit={"scoringStrategy": strategy}).rules

    rule = next(one for one in rules.filters if isinstance(one, ResourceFit))
    assert rule.strategy.resources == (("nvidia.com/gpu", 3),)


def test_a_profile_without_scores_says_so() -> None:
    assert made().rules.scores_anything
    assert not made({"score": {"disabled": names("*")}}).rules.scores_anything

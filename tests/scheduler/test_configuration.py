"""KubeSchedulerConfiguration: read, or refused in one sentence."""

from __future__ import annotations

from typing import Any

import pytest

from windtunnel.errors import UsageError
from windtunnel.scheduler import read_configuration


def profile(**kept: Any) -> dict[str, Any]:
    return {"profiles": [{"schedulerName": "mine", **kept}]}


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "another version": ({"apiVersion": "kubescheduler.config.k8s.io/v1beta3"}, "expected"),
    "another kind": ({"kind": "Pod"}, "expected KubeSchedulerConfiguration"),
    "an unknown field": ({"percent": 1}, "unknown field `percent`"),
    "extenders": ({"extenders": [{}]}, "extenders are not supported"),
    "too many per cent": ({"percentageOfNodesToScore": 101}, "must be 0 to 100, not 101"),
    "no backoff": ({"podInitialBackoffSeconds": 0}, "must be at least 1"),
    "a maximum below the start": (
        {"podInitialBackoffSeconds": 5, "podMaxBackoffSeconds": 2}, "must be at least 5",
    ),
    "two profiles of one name": ({"profiles": [{}, {}]}, "two profiles"),
    "an unknown plugin": (
        profile(plugins={"filter": {"enabled": [{"name": "Mine"}]}}), "plugin Mine",
    ),
    "an unknown point": (profile(plugins={"sort": {}}), "no extension point sort"),
    "a plugin at a point it does not extend": (
        profile(plugins={"score": {"enabled": [{"name": "NodeName"}]}}), "does not extend score",
    ),
    "arguments for who takes none": (
        profile(pluginConfig=[{"name": "NodeName"}]), "takes no arguments",
    ),
    "arguments twice": (
        profile(pluginConfig=[{"name": "NodeAffinity"}, {"name": "NodeAffinity"}]), "twice",
    ),
    "wrong arguments": (
        profile(pluginConfig=[{"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": -1}}]),
        "arguments of InterPodAffinity",
    ),
    "no workers": ({"parallelism": 0}, "parallelism must be at least 1, not 0"),
    "a plugin twice at one point": (
        profile(plugins={"score": {"enabled": [{"name": "ImageLocality"}] * 2}}), "enabled twice",
    ),
    "a negative weight": (
        profile(plugins={"score": {"enabled": [{"name": "ImageLocality", "weight": -1}]}}),
        "weight of ImageLocality must be at least 0",
    ),
    "a weight of a resource beyond all": (
        profile(pluginConfig=[{
            "name": "NodeResourcesFit",
            "args": {"scoringStrategy": {"resources": [{"name": "cpu", "weight": 900}]}},
        }]),
        "weight of cpu must be 1 to 100",
    ),
    "a default constraint that says nothing": (
        profile(pluginConfig=[{
            "name": "PodTopologySpread",
            "args": {"defaultingType": "List", "defaultConstraints": [{"maxSkew": 0}]},
        }]),
        "maxSkew of a default constraint",
    ),
    "no binding": (
        profile(plugins={"multiPoint": {"disabled": [{"name": "DefaultBinder"}]}}), "bind plugin",
    ),
    "no order in the queue": (
        profile(plugins={"queueSort": {"disabled": [{"name": "*"}]}}), "queue sort plugin",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("tree", "words"), REFUSED.values(), ids=REFUSED)
def test_refused(tree: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read_configuration(tree)


def test_nothing_means_the_defaults() -> None:
    configuration = read_configuration()

    assert [one.name for one in configuration.profiles] == ["default-scheduler"]
    assert configuration.max_backoff_seconds == 10


def test_a_profiles_own_percentage_wins() -> None:
    profiles = [{"schedulerName": "a"}, {"schedulerName": "b", "percentageOfNodesToScore": 70}]
    tree = {"percentageOfNodesToScore": 30, "profiles": profiles}

    assert [one.rules.percentage for one in read_configuration(tree).profiles] == [30, 70]


def test_settings_of_the_process_are_read_and_do_nothing() -> None:
    assert read_configuration(
        {
            "leaderElection": {"leaderElect": False},
            "clientConnection": {"qps": 5000},
            "parallelism": 1,
        }
    )

"""Fit: what is short, in which words, and how full nodes should become."""

from __future__ import annotations

from typing import Any

import pytest
from tests.build import GPU, fleet, gpus, node, pod
from tests.placement.rules.judging import Answer, ratings, relieved, verdict

from windtunnel.fleet import Fleet, PodView
from windtunnel.placement import What
from windtunnel.placement.rules.resource_fit import FitStrategy, ResourceFit

MIG = "nvidia.com/mig-1g.10gb"


def busy(count: int, **kept: Any) -> Fleet:
    return fleet(node(**kept), pods=(pod("e", node="a", requests=gpus(count)),))


CASES: dict[str, tuple[PodView, Fleet, Answer]] = {
    "exact fit passes": (pod(requests=gpus(8)), fleet(node()), ([True], [], [False])),
    "one short now": (
        pod(requests=gpus(1)), busy(8), ([False], [f"Insufficient {GPU}"], [False]),
    ),
    "more than the node has, ever": (
        pod(requests=gpus(9)), busy(8), ([False], [f"Insufficient {GPU}"], [True]),
    ),
    "a resource the pod does not ask for never blocks": (
        pod(requests={"cpu": "1"}), busy(9), ([True], [], [False]),
    ),
    "a zero never fails": (pod(requests={MIG: "0"}), fleet(node()), ([True], [], [False])),
    "what 64 bits count below zero is nothing": (
        pod(requests={"cpu": "-1", GPU: "9223372036854775808"}),
        busy(8, allocatable={"cpu": "0", GPU: "8"}),
        ([True], [], [False]),
    ),
    "more than a node could ever have": (
        pod(requests=gpus(2**63 - 1)), busy(8), ([False], [f"Insufficient {GPU}"], [True]),
    ),
    "a resource nobody has heard of": (
        pod(requests={MIG: "1"}), fleet(node()), ([False], [f"Insufficient {MIG}"], [True]),
    ),
    "too many pods": (
        pod(), busy(0, allocatable={"pods": "1"}), ([False], ["Too many pods"], [False]),
    ),
    "all that is short is told, plain resources first": (
        pod(requests={MIG: "1", GPU: "9", "ephemeral-storage": "1", "memory": "1Ti", "cpu": "97"}),
        fleet(node()),
        (
            [False],
            [
                "Insufficient cpu", "Insufficient memory", "Insufficient ephemeral-storage",
                f"Insufficient {GPU}", f"Insufficient {MIG}",
            ],
            [True],
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("one", "made", "want"), CASES.values(), ids=CASES)
def test_filter(one: PodView, made: Fleet, want: Answer) -> None:
    assert verdict(ResourceFit(), one, made) == want


@pytest.mark.parametrize(
    "rule",
    [ResourceFit(ignored=frozenset({GPU})), ResourceFit(ignored_groups=frozenset({"nvidia.com"}))],
)
def test_ignored_resources_are_not_counted(rule: ResourceFit) -> None:
    assert verdict(rule, pod(requests=gpus(9)), fleet(node()))[0] == [True]


RATINGS: dict[str, tuple[FitStrategy, dict[str, str], int]] = {
    "least allocated": (FitStrategy(resources=((GPU, 1),)), gpus(2), 50),
    "most allocated": (FitStrategy("MostAllocated", ((GPU, 1),)), gpus(2), 50),
    "a scalar the pod does not want leaves the average": (
        FitStrategy(resources=((GPU, 9), ("cpu", 1))), {"cpu": "48"}, 49,
    ),
    "weights": (FitStrategy(resources=((GPU, 3), ("cpu", 1))), gpus(6) | {"cpu": "0"}, 24),
    "a broken line": (
        FitStrategy("RequestedToCapacityRatio", ((GPU, 1),), ((0, 0), (50, 10), (100, 5))),
        gpus(4), 75,
    ),
    "before the first point": (
        FitStrategy("RequestedToCapacityRatio", ((GPU, 1),), ((60, 4), (100, 10))), gpus(2), 40,
    ),
    "beyond what fits a node is full": (
        FitStrategy("RequestedToCapacityRatio", ((GPU, 1),), ((0, 0), (100, 10))), gpus(7), 100,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("strategy", "requests", "want"), RATINGS.values(), ids=RATINGS)
def test_rate(strategy: FitStrategy, requests: dict[str, str], want: int) -> None:
    assert ratings(ResourceFit(strategy), pod(requests=requests), busy(2)) == [want]


def test_silent_containers_count_a_little_in_scores() -> None:
    rule = ResourceFit(FitStrategy(resources=(("memory", 1),)))
    small = fleet(node(allocatable={"memory": "400Mi"}))

    assert ratings(rule, pod(), small) == [50]


NEWS: dict[str, tuple[PodView, What, dict[str, object], bool]] = {
    "a pod left": (pod(requests=gpus(1)), What.POD_GONE, {"pod_before": pod("e")}, True),
    "a node came that would do": (pod(requests=gpus(8)), What.NODE_ADDED, {"node": node()}, True),
    "a node came that is too small": (
        pod(requests=gpus(9)), What.NODE_ADDED, {"node": node()}, False,
    ),
    "a node grew in what is wanted": (
        pod(requests=gpus(8)), What.NODE_ALLOCATABLE,
        {"node_before": node(allocatable=gpus(4)), "node": node()}, True,
    ),
    "a node grew in something else": (
        pod(requests=gpus(1)), What.NODE_ALLOCATABLE,
        {"node_before": node(allocatable={"cpu": "1"}), "node": node()}, False,
    ),
    "a node allows more pods": (
        pod(requests=gpus(1)), What.NODE_ALLOCATABLE,
        {"node_before": node(allocatable={"pods": "1"}), "node": node()}, True,
    ),
    "a pod shrank in what is wanted": (
        pod(requests=gpus(1)), What.POD_SHRUNK,
        {"pod_before": pod("e", requests=gpus(2)), "pod": pod("e", requests=gpus(1))}, True,
    ),
    "a pod shrank in something else": (
        pod(requests=gpus(1)), What.POD_SHRUNK,
        {"pod_before": pod("e", requests={"cpu": "2"}), "pod": pod("e")}, False,
    ),
    "taints changed": (pod(), What.NODE_TAINTS, {"node_before": node(), "node": node()}, True),
    "labels changed": (pod(), What.NODE_LABELS, {"node_before": node(), "node": node()}, False),
}  # fmt: skip


@pytest.mark.parametrize(("one", "what", "news", "want"), NEWS.values(), ids=NEWS)
def test_relieved(one: PodView, what: What, news: dict[str, object], want: bool) -> None:
    assert relieved(ResourceFit(), one, fleet(node()), what, **news) is want


def test_ignored_resources_still_decide_whether_a_new_node_would_do() -> None:
    rule = ResourceFit(ignored_groups=frozenset({"nvidia.com"}))

    assert not relieved(rule, pod(requests=gpus(9)), fleet(node()), What.NODE_ADDED, node=node())

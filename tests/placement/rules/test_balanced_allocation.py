"""Balance: before and after the pod."""

from __future__ import annotations

import pytest
from tests.build import GPU, fleet, node, pod
from tests.placement.rules.judging import ratings

from windtunnel.fleet import Fleet, PodView
from windtunnel.placement.rules.balanced_allocation import BalancedAllocation

HALF = pod("e", node="a", requests={"cpu": "48"})

CASES: dict[str, tuple[tuple[str, ...], PodView, Fleet, int]] = {
    "unchanged balance": (
        ("cpu", "memory"), pod(requests={"cpu": "48", "memory": "384Gi"}), fleet(node()), 75,
    ),
    "the pod tips it": (("cpu", "memory"), pod(requests={"cpu": "96"}), fleet(node()), 50),
    "the pod rights it": (
        ("cpu", "memory"), pod(requests={"memory": "384Gi"}), fleet(node(), pods=(HALF,)), 87,
    ),
    "three resources: standard deviation": (
        ("cpu", "memory", GPU), pod(requests={"cpu": "96", GPU: "8"}), fleet(node()), 51,
    ),
    "a resource the node lacks does not count": (
        ("cpu", "memory", GPU), pod(requests={"cpu": "96", GPU: "1"}),
        fleet(node(allocatable={GPU: "0"})), 50,
    ),
    "one resource is always balanced": (("cpu",), pod(requests={"cpu": "1"}), fleet(node()), 75),
    "use above capacity counts as full": (
        ("cpu", "memory"), pod(requests={"cpu": "96"}), fleet(node(), pods=(HALF,)), 62,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("resources", "one", "made", "want"), CASES.values(), ids=CASES)
def test_rate(resources: tuple[str, ...], one: PodView, made: Fleet, want: int) -> None:
    assert ratings(BalancedAllocation(resources), one, made) == [want]


def test_a_pod_that_asks_for_none_of_the_resources_gets_no_score() -> None:
    made = fleet(node())

    assert not BalancedAllocation().applies(pod(), made.view())
    assert BalancedAllocation().applies(pod(requests={"cpu": "1"}), made.view())

"""Requests, limits and quality of service of pods."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kinds.pod.asking import CASES, asking, asks

from windtunnel.kinds.pod.requests import base_units, pod_limits, pod_requests, qos_class
from windtunnel.machinery.tree import Tree


@pytest.mark.parametrize(("tree", "want"), CASES.values(), ids=CASES)
def test_a_pod_requests(tree: Tree, want: dict[str, int]) -> None:
    assert base_units(pod_requests(tree)) == want


def test_overhead_counts_for_a_limit_only_where_there_is_one() -> None:
    tree = asking(asks(cpu="1"), overhead={"cpu": "250m", "memory": "1Mi"})

    assert base_units(pod_limits(tree)) == {"cpu": 1250}


QOS = {
    "nothing asked": (asking(asks(), asks(gpu="1")), "BestEffort"),
    "equal everywhere": (asking(asks(cpu="1", memory="1Gi")), "Guaranteed"),
    "one container is silent": (asking(asks(cpu="1", memory="1Gi"), asks()), "Burstable"),
    "memory is missing": (asking(asks(cpu="1")), "Burstable"),
    "the whole pod is limited": (
        asking(asks(), resources={"requests": {"cpu": "1", "memory": "1"},
                               "limits": {"cpu": "1", "memory": "1"}}),
        "Guaranteed",
    ),
    "the whole pod only requests": (
        asking(asks(), resources={"requests": {"cpu": "1"}}), "Burstable",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("tree", "want"), QOS.values(), ids=QOS)
def test_a_pod_is_of_a_class(tree: Tree, want: str) -> None:
    assert qos_class(tree["spec"]) == want


millis = st.integers(min_value=0, max_value=64_000).map(lambda milli: f"{milli}m")


@given(
    st.lists(millis, min_size=1, max_size=4), st.lists(st.tuples(millis, st.booleans()), max_size=4)
)
def test_a_pod_never_requests_less_than_any_moment_of_its_life_needs(
    main: list[str], init: list[tuple[str, bool]]
) -> None:
    tree = asking(
        *(asks(cpu=value) for value in main),
        init=tuple(asks(cpu=value, restart="Always" if side else "") for value, side in init),
    )

    total = base_units(pod_requests(tree))["cpu"]

    running = sum(int(value[:-1]) for value in main)
    sidecars = 0
    for value, side in init:
        needed = sidecars + int(value[:-1])
        assert total >= needed
        sidecars = needed if side else sidecars
    assert total >= running + sidecars

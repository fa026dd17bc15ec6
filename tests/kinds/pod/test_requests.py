from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.kinds.pod.requests import (
    base_units,
    pod_limits,
    pod_requests,
    qos_class,
    scored_requests,
)
from windtunnel.machinery.tree import Tree


def asks(name: str = "c", restart: str = "", **requests: str) -> Tree:
    named = {key.replace("gpu", "nvidia.com/gpu"): value for key, value in requests.items()}
    container: Tree = {"name": name, "resources": {"requests": named, "limits": dict(named)}}
    return {**container, "restartPolicy": restart} if restart else container


def pod(*containers: Tree, init: tuple[Tree, ...] = (), **spec: Any) -> Tree:
    return {"spec": {"containers": list(containers), "initContainers": list(init), **spec}}


REQUESTS = {
    "containers add up": (pod(asks(cpu="1"), asks(cpu="500m", gpu="1")), {"cpu": 1500, "gpu": 1}),
    "an init container counts where it is larger": (
        pod(asks(cpu="1"), init=(asks(cpu="3"), asks(gpu="2"))),
        {"cpu": 3000, "gpu": 2},
    ),
    "a sidecar counts beside the containers": (
        pod(asks(cpu="1"), init=(asks(cpu="2", restart="Always"),)),
        {"cpu": 3000},
    ),
    "a sidecar counts beside later init containers only": (
        pod(asks(cpu="1"), init=(asks(cpu="5"), asks(cpu="2", restart="Always"), asks(cpu="4"))),
        {"cpu": 6000},
    ),
    "what is given for the pod replaces the sum, except for extended resources": (
        pod(asks(cpu="1", gpu="1"), resources={"requests": {"cpu": "4", "memory": "1Gi"}}),
        {"cpu": 4000, "memory": 1073741824, "gpu": 1},
    ),
    "overhead is added": (pod(asks(cpu="1"), overhead={"cpu": "250m"}), {"cpu": 1250}),
    "fractions are rounded up at the end": (
        pod(asks(memory="1500m"), asks(memory="1500m")), {"memory": 3},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("tree", "want"), REQUESTS.values(), ids=REQUESTS)
def test_a_pod_requests(tree: Tree, want: dict[str, int]) -> None:
    named = {key.replace("gpu", "nvidia.com/gpu"): value for key, value in want.items()}

    assert base_units(pod_requests(tree)) == named


def test_while_a_pod_is_resized_the_largest_view_counts() -> None:
    tree = pod(asks(cpu="1"))
    status = {
        "name": "c",
        "allocatedResources": {"cpu": "2"},
        "resources": {"requests": {"cpu": "3"}},
    }
    tree["status"] = {"containerStatuses": [status]}
    assert base_units(pod_requests(tree)) == {"cpu": 3000}

    refused = {"type": "PodResizePending", "reason": "Infeasible"}
    tree["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "64"
    tree["status"]["conditions"] = [refused]
    assert base_units(pod_requests(tree)) == {"cpu": 3000}


def test_overhead_counts_for_a_limit_only_where_there_is_one() -> None:
    tree = pod(asks(cpu="1"), overhead={"cpu": "250m", "memory": "1Mi"})

    assert base_units(pod_limits(tree)) == {"cpu": 1250}


def test_scores_count_something_for_containers_that_state_nothing() -> None:
    silent = pod(asks(), asks(cpu="1"))
    whole = pod(asks(), resources={"requests": {"cpu": "2"}})

    assert base_units(scored_requests(silent, pod_requests(silent))) == {
        "cpu": 1100, "memory": 2 * 200 * 1024 * 1024,
    }  # fmt: skip
    assert base_units(scored_requests(whole, pod_requests(whole))) == {
        "cpu": 2000, "memory": 200 * 1024 * 1024,
    }  # fmt: skip


QOS = {
    "nothing asked": (pod(asks(), asks(gpu="1")), "BestEffort"),
    "equal everywhere": (pod(asks(cpu="1", memory="1Gi")), "Guaranteed"),
    "one container is silent": (pod(asks(cpu="1", memory="1Gi"), asks()), "Burstable"),
    "memory is missing": (pod(asks(cpu="1")), "Burstable"),
    "the whole pod is limited": (
        pod(asks(), resources={"requests": {"cpu": "1", "memory": "1"},
                               "limits": {"cpu": "1", "memory": "1"}}),
        "Guaranteed",
    ),
    "the whole pod only requests": (pod(asks(), resources={"requests": {"cpu": "1"}}), "Burstable"),
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
    tree = pod(
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

"""The arithmetic of requests: sums, peaks of init containers, sidecars, pod level, overhead."""

from __future__ import annotations

from typing import Any

import pytest
from tests.build import GPU, pod

from windtunnel.kinds.pod.requests import base_units
from windtunnel.kinds.pod.requests import pod_requests as account
from windtunnel.machinery.tree import Tree


def container(cpu: str = "", **kept: Any) -> Tree:
    requests = {"cpu": cpu} if cpu else {}
    return {"name": kept.pop("name", "c"), "resources": {"requests": requests}, **kept}


def sidecar(cpu: str) -> Tree:
    return container(cpu, restartPolicy="Always")


CASES: dict[str, tuple[Tree, dict[str, int]]] = {
    "containers add up": ({"containers": [container("1"), container("500m")]}, {"cpu": 1500}),
    "the larger of init and main counts": (
        {"containers": [container("1")], "initContainers": [container("3"), container("2")]},
        {"cpu": 3000},
    ),
    "a sidecar stays beside the main containers": (
        {"containers": [container("1")], "initContainers": [sidecar("2")]},
        {"cpu": 3000},
    ),
    "an init container runs beside the sidecars before it": (
        {
            "containers": [container("1")],
            "initContainers": [sidecar("2"), container("4"), sidecar("1")],
        },
        {"cpu": 6000},
    ),
    "pod level replaces the sum": (
        {"containers": [container("1")], "resources": {"requests": {"cpu": "4"}}},
        {"cpu": 4000},
    ),
    "pod level leaves extended resources alone": (
        {
            "containers": [{"name": "c", "resources": {"requests": {GPU: "2"}}}],
            "resources": {"requests": {"cpu": "1", GPU: "9"}},
        },
        {"cpu": 1000, GPU: 2},
    ),
    "overhead comes last": (
        {"containers": [container("1")], "overhead": {"cpu": "250m"}},
        {"cpu": 1250},
    ),
    "amounts are rounded up": ({"containers": [container("1.0005")]}, {"cpu": 1001}),
}


@pytest.mark.parametrize(("spec", "want"), CASES.values(), ids=CASES)
def test_a_pod_requests(spec: Tree, want: dict[str, int]) -> None:
    assert pod(**spec).shape.requests == want


@pytest.mark.parametrize(("spec", "want"), CASES.values(), ids=CASES)
def test_the_scheduler_counts_as_quotas_count(spec: Tree, want: dict[str, int]) -> None:
    assert base_units(account({"spec": spec})) == want


SILENT: dict[str, tuple[Tree, tuple[int, int]]] = {
    "a silent container counts a little": ({"containers": [container()]}, (100, 209715200)),
    "an explicit zero stays zero": ({"containers": [container("0")]}, (0, 209715200)),
    "a silent init container counts, too": (
        {"containers": [container("50m")], "initContainers": [container()]},
        (100, 209715200),
    ),
    "pod level speaks for its containers": (
        {"containers": [container()], "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}},
        (1000, 1073741824),
    ),
}


@pytest.mark.parametrize(("spec", "want"), SILENT.values(), ids=SILENT)
def test_nodes_sum_for_scores(spec: Tree, want: tuple[int, int]) -> None:
    assert pod(**spec).shape.nonzero == want


def test_scores_of_fit_ignore_the_pod_level() -> None:
    shape = pod(containers=[container()], resources={"requests": {"cpu": "4"}}).shape

    assert shape.scored["cpu"] == 100


def test_a_running_pod_counts_the_larger_of_wish_and_allocation() -> None:
    status = {"containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "3"}}]}

    assert pod(containers=[container("1")], status=status).shape.requests == {"cpu": 3000}

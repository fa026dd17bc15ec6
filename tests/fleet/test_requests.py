"""What the scheduler counts: requests as everybody else, and a little for silent containers."""

from __future__ import annotations

from typing import Any

import pytest
from tests.build import READER, pod
from tests.kinds.pod.asking import CASES

from windtunnel.machinery.tree import Tree, encode


def container(cpu: str = "", **kept: Any) -> Tree:
    requests = {"cpu": cpu} if cpu else {}
    return {"name": kept.pop("name", "c"), "resources": {"requests": requests}, **kept}


@pytest.mark.parametrize(("tree", "want"), CASES.values(), ids=CASES)
def test_a_pod_requests(tree: Tree, want: dict[str, int]) -> None:
    assert READER.read(encode(tree)).shape.requests == want


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

from typing import Any

import pytest
from tests.kinds.pod.asking import CASES, GPU

from windtunnel.devices import take_ledger
from windtunnel.devices.ledger import limit_of


def node(name: str, gpus: int | None) -> dict[str, Any]:
    status = {} if gpus is None else {"capacity": {"nvidia.com/gpu": str(gpus)}}
    return {
        "metadata": {"name": name, "labels": {"nvidia.com/gpu.product": "H"}},
        "status": {**status, "allocatable": status.get("capacity", {})},
    }


def container(gpus: int) -> dict[str, Any]:
    return {"resources": {"limits": {GPU: str(gpus)}}}


def pod(
    gpus: int, on: str = "", phase: str | None = "Running", namespace: str = "a"
) -> dict[str, Any]:
    return {
        "metadata": {"name": "p", "namespace": namespace},
        "spec": {"nodeName": on, "containers": [container(gpus)]},
        "status": {"phase": phase} if phase else {},
    }


COUNTED = {
    "running on a node": (pod(3, "n1"), 3),
    "pending but bound": (pod(3, "n1", "Pending"), 3),
    "bound, phase not yet written": (pod(3, "n1", None), 3),
    "waiting for a node": (pod(3, "", "Pending"), 0),
    "succeeded": (pod(3, "n1", "Succeeded"), 0),
    "failed": (pod(3, "n1", "Failed"), 0),
}


@pytest.mark.parametrize(("one", "want"), COUNTED.values(), ids=COUNTED.keys())
def test_what_a_pod_holds(one: dict[str, Any], want: int) -> None:
    assert take_ledger([node("n1", 8)], [one]).requested == want


def test_the_account_adds_up_and_is_in_name_order() -> None:
    ledger = take_ledger(
        [node("n2", 8), node("n1", 4), node("cpu", None)], [pod(2, "n1"), pod(8, "n2")]
    )

    assert ledger.to_tree() == {
        "nodes": {"n1": 4, "n2": 8},
        "allocatable_total": 12,
        "requested": 10,
        "free": 2,
    }
    assert [(line.name, line.placed, line.free) for line in ledger.nodes] == [
        ("n1", 2, 2),
        ("n2", 8, 0),
    ]


def test_one_namespace_can_be_singled_out() -> None:
    pods = [pod(2, "n1", namespace="a"), pod(3, "n1", namespace="b")]

    assert take_ledger([node("n1", 8)], pods, namespace="b").requested == 3


@pytest.mark.parametrize(("tree", "want"), CASES.values(), ids=CASES)
def test_the_limit_of_a_pod(tree: dict[str, Any], want: dict[str, int]) -> None:
    assert limit_of(tree, GPU) == want.get(GPU, 0)

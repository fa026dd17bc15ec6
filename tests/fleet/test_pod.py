"""Pods: what is read, and which pods share a shape."""

from __future__ import annotations

import pytest
from tests.build import gpus, pod, pod_tree

from windtunnel.fleet.pod import PodReader
from windtunnel.machinery.tree import encode


def test_equal_demands_share_one_shape() -> None:
    assert pod("a", requests=gpus(1)).shape is pod("b", requests=gpus(1)).shape


DIFFERENT = {
    "requests": {"requests": gpus(2)},
    "labels": {"labels": {"app": "x"}},
    "namespace": {"namespace": "other"},
    "tolerations": {"tolerations": [{"operator": "Exists"}]},
    "host ports": {"containers": [{"name": "main", "ports": [{"hostPort": 80}]}]},
}


@pytest.mark.parametrize("kept", DIFFERENT.values(), ids=DIFFERENT)
def test_other_demands_are_another_shape(kept: dict[str, object]) -> None:
    plain = pod("a", requests=gpus(1))

    assert pod("b", **({"requests": gpus(1)} | kept)).shape is not plain.shape


def test_who_a_pod_is_does_not_change_its_shape() -> None:
    plain = pod("a")
    other = pod("b", priority=7, node="n", schedulerName="mine", preemptionPolicy="Never")

    assert other.shape is plain.shape
    assert (other.priority, other.node, other.scheduler, other.may_preempt) == (
        7, "n", "mine", False,
    )  # fmt: skip


def test_a_shape_is_forgotten_with_its_last_pod() -> None:
    reader = PodReader()
    first = reader.read(encode(pod_tree(requests=gpus(1))))
    key = next(iter(reader._shapes.keys()))
    del first

    assert key not in reader._shapes


def test_only_controlling_owners_count() -> None:
    owners = [
        {"apiVersion": "v1", "kind": "Node", "name": "n"},
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "controller": True},
    ]

    assert pod(metadata={"ownerReferences": owners}).owner == ("apps/v1", "ReplicaSet", "r")

"""Tests of workloads that PodGroups name."""

from __future__ import annotations

from typing import Any

from windtunnel.gpu.status_updater.claimant import Claimant
from windtunnel.gpu.status_updater.workloads import Workloads
from windtunnel.machinery.errors import NotFound
from windtunnel.machinery.tree import Key, Tree


class PodGroups:
    """A client that knows PodGroups, and counts who asks."""

    def __init__(self, *, served: bool = True) -> None:
        self.served, self.asked = served, 0

    def get(self, resource: str, key: Key) -> Tree | None:
        self.asked += 1
        if not self.served:
            raise NotFound.resource()
        return {"spec": {"priorityClassName": "train"}} if key.name == "g" else None


def pod(**more: Any) -> Claimant:
    return Claimant(key=Key("ml", "p"), uid="u", node="n", **more)


def test_the_group_says_it_and_is_asked_once_for_each_pod() -> None:
    groups = PodGroups()
    workloads = Workloads(groups)  # type: ignore[arg-type]

    assert [workloads.of(pod(pod_group="g")) for _ in range(2)] == ["train", "train"]
    assert groups.asked == 1
    workloads.forget("u")
    workloads.of(pod(pod_group="g"))
    assert groups.asked == 2


def test_what_the_pod_says_needs_no_group() -> None:
    groups = PodGroups()

    assert Workloads(groups).of(pod(workload="build")) == "build"  # type: ignore[arg-type]
    assert groups.asked == 0


def test_nobody_says_it() -> None:
    for groups in (PodGroups(), PodGroups(served=False)):
        assert Workloads(groups).of(pod(pod_group="none")) == ""  # type: ignore[arg-type]

"""Which container's log is meant, by what the pod's status says."""

from __future__ import annotations

import pytest

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.streams.log_choice import (
    Chosen,
    NoSuchLog,
    choose,
    has_container,
)


def gone(container_id: str) -> Tree:
    return {"terminated": {"containerID": container_id and f"containerd://{container_id}"}}


def waits(reason: str) -> Tree:
    return {"waiting": {"reason": reason}}


RUNS: Tree = {"running": {}}
SUBJECT = 'container "c" in pod "p"'
CASES = {
    "it runs": (RUNS, {}, False, "now"),
    "it has ended": (gone("old"), {}, False, "old"),
    "it could not be made again": (gone(""), gone("old"), False, "old"),
    "it was never made": (gone(""), {}, False, f"{SUBJECT} is terminated"),
    "it waits to run again": (waits("CrashLoopBackOff"), gone("old"), False, "old"),
    "it waits, and was lost before": (waits("x"), gone(""), False, f"{SUBJECT} is terminated"),
    "its image cannot be had": (
        waits("ErrImagePull"), {}, False, f"{SUBJECT} is waiting to start: image can't be pulled",
    ),
    "its image still cannot be had": (
        waits("ImagePullBackOff"), {}, False,
        f"{SUBJECT} is waiting to start: trying and failing to pull image",
    ),
    "it waits for others": (
        waits("PodInitializing"), {}, False, f"{SUBJECT} is waiting to start: PodInitializing",
    ),
    "nothing is known of it": ({}, {}, False, f"{SUBJECT} is waiting to start - no logs yet"),
    "the one before": (RUNS, gone("old"), True, "old"),
    "there is none before": (RUNS, {}, True, f"previous terminated {SUBJECT} not found"),
}  # fmt: skip


@pytest.mark.parametrize(("state", "last", "previous", "wanted"), CASES.values(), ids=CASES)
def test_whose_log_is_meant(state: Tree, last: Tree, previous: bool, wanted: str) -> None:
    status = {"name": "c", "containerID": "containerd://now", "state": state, "lastState": last}
    pod = {"metadata": {"name": "p"}, "status": {"initContainerStatuses": [status]}}

    found = choose(pod, "c", previous=previous)

    assert found == (NoSuchLog(wanted) if " " in wanted else Chosen(wanted))


def test_without_a_status_there_is_no_log() -> None:
    pod: Tree = {"metadata": {"name": "p"}, "spec": {"initContainers": [{"name": "c"}]}}

    assert choose(pod, "c", previous=False) == NoSuchLog(f"{SUBJECT} is not available")
    assert has_container(pod, "c")
    assert not has_container(pod, "d")

from typing import Any

import msgspec
import pytest

from windtunnel.controllers.daemonset.fit import NEITHER, Fit
from windtunnel.controllers.daemonset.plan import Daemon, Plan, count, populate, roll
from windtunnel.controllers.daemonset.views import DaemonSetView
from windtunnel.controllers.views import PodView
from windtunnel.machinery.timestamp import time_text

NOW = 1_800_000_000.0
YES = Fit(run=True, stay=True)
STAYS = Fit(run=False, stay=True)


def daemon(min_ready: int = 0, **rolling: Any) -> Daemon:
    spec = {
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
        "minReadySeconds": min_ready,
    }
    tree = {"metadata": {"name": "d", "generation": 3}, "spec": spec}
    return Daemon(msgspec.convert(tree, DaemonSetView), "new", NOW)


def pod(
    name: str, hash_: str = "new", *, ready: bool = True, age: int = 60, **more: Any
) -> PodView:
    condition = {"type": "Ready", "status": str(ready), "lastTransitionTime": time_text(NOW - age)}
    metadata = {
        "name": name,
        "creationTimestamp": time_text(NOW - age),
        "labels": {"controller-revision-hash": hash_},
        **more.pop("metadata", {}),
    }
    tree = {
        "metadata": metadata,
        "spec": {"nodeName": "n"},
        "status": {"phase": "Running", "conditions": [condition], **more},
    }
    return msgspec.convert(tree, PodView)


def going(name: str, hash_: str = "new") -> PodView:
    return pod(name, hash_, metadata={"deletionTimestamp": time_text(NOW)})


def outcome(plan: Plan) -> tuple[list[str], list[str]]:
    return plan.create, [each.metadata.name for each in plan.delete]


POPULATED: dict[str, tuple[dict[str, Fit], dict[str, list[PodView]], tuple[Any, Any]]] = {
    "a node without a pod gets one": ({"a": YES}, {}, (["a"], [])),
    "a node that may only keep one gets none": ({"a": STAYS}, {}, ([], [])),
    "a node keeps its pod": ({"a": STAYS}, {"a": [pod("p")]}, ([], [])),
    "a pod where none may be goes": ({"a": NEITHER}, {"a": [pod("p"), going("q")]}, ([], ["p"])),
    "a going pod holds its node": ({"a": YES}, {"a": [going("p")]}, ([], [])),
    "only the oldest of two stays": (
        {"a": YES}, {"a": [pod("young", age=1), pod("old", age=9)]}, ([], ["young"])
    ),
    "a failed pod goes": ({"a": YES}, {"a": [pod("p", phase="Failed")]}, ([], ["p"])),
    "a succeeded pod goes": ({"a": YES}, {"a": [pod("p", phase="Succeeded")]}, ([], ["p"])),
    "a pod of a node that is gone stays": ({}, {"gone": [pod("p")]}, ([], [])),
}  # fmt: skip


@pytest.mark.parametrize(("fits", "pods", "want"), POPULATED.values(), ids=POPULATED)
def test_every_node_gets_what_it_should_have(
    fits: dict[str, Fit], pods: dict[str, list[PodView]], want: tuple[Any, Any]
) -> None:
    assert outcome(populate(daemon(maxUnavailable=1), fits, pods, lambda node: True)) == want


def test_a_failed_pod_may_have_to_wait() -> None:
    pods = {"a": [pod("p", phase="Failed")], "b": [pod("q", phase="Failed")]}

    plan = populate(daemon(maxUnavailable=1), {"a": YES, "b": YES}, pods, lambda node: node == "b")

    assert outcome(plan) == ([], ["q"])
    assert [node for node, _ in plan.ended] == ["b"]


def test_a_successor_that_is_up_ends_the_old_pod() -> None:
    surging = daemon(maxSurge=1, maxUnavailable=0)
    pair = [pod("old", "old", age=90), pod("new", age=5)]

    assert outcome(populate(surging, {"a": YES}, {"a": pair}, lambda _: True)) == ([], ["old"])
    pair[1] = pod("new", ready=False)
    assert outcome(populate(surging, {"a": YES}, {"a": pair}, lambda _: True)) == ([], [])
    pair[0] = pod("old", "old", ready=False)
    assert outcome(populate(surging, {"a": YES}, {"a": pair}, lambda _: True)) == ([], ["old"])


ROLLED: dict[str, tuple[dict[str, Any], dict[str, list[PodView]], tuple[Any, Any]]] = {
    "one at a time": (
        {"maxUnavailable": 1},
        {"a": [pod("a", "old")], "b": [pod("b", "old")]}, ([], ["a"]),
    ),
    "a share, rounded up": (
        {"maxUnavailable": "51%"},
        {"a": [pod("a", "old")], "b": [pod("b", "old")]}, ([], ["a", "b"]),
    ),
    "not while a new one is not up": (
        {"maxUnavailable": 1},
        {"a": [pod("a", ready=False)], "b": [pod("b", "old")]}, ([], []),
    ),
    "what is down anyway is always exchanged": (
        {"maxUnavailable": 1},
        {"a": [pod("a", ready=False)], "b": [pod("b", "old", ready=False)]}, ([], ["b"]),
    ),
    "a node without a pod counts": (
        {"maxUnavailable": 1}, {"b": [pod("b", "old")]}, ([], []),
    ),
    "surging on one node": (
        {"maxSurge": 1, "maxUnavailable": 0},
        {"a": [pod("a", "old")], "b": [pod("b", "old")]}, (["a"], []),
    ),
    "surging no further while one is not up": (
        {"maxSurge": 1, "maxUnavailable": 0},
        {"a": [pod("a", "old"), pod("x", ready=False)], "b": [pod("b", "old")]}, ([], []),
    ),
    "what is down gets its successor without counting": (
        {"maxSurge": 1, "maxUnavailable": 0},
        {"a": [pod("a", "old"), pod("x", ready=False)], "b": [pod("b", "old", ready=False)]},
        (["b"], []),
    ),
    "an old one ends when its successor is up": (
        {"maxSurge": 1, "maxUnavailable": 0},
        {"a": [pod("a", "old"), pod("x")], "b": [pod("b")]}, ([], ["a"]),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("rolling", "pods", "want"), ROLLED.values(), ids=ROLLED)
def test_a_rollout(
    rolling: dict[str, Any], pods: dict[str, list[PodView]], want: tuple[Any, Any]
) -> None:
    assert outcome(roll(daemon(**rolling), {"a": YES, "b": YES}, pods)) == want


def test_a_node_counts_by_its_oldest_pod() -> None:
    fits = {"a": YES, "b": YES, "c": YES, "d": NEITHER, "e": NEITHER}
    pods = {
        "a": [pod("new", age=5), pod("old", "old", age=90)],
        "b": [pod("b", age=5)],
        "d": [pod("d")],
        "gone": [pod("g")],
    }

    status = count(daemon(min_ready=30, maxUnavailable=1), fits, pods, 2)

    assert status.desired_number_scheduled == 3
    assert status.current_number_scheduled == 2
    assert status.number_misscheduled == 1
    assert status.number_ready == 2
    assert status.number_available == 1
    assert status.number_unavailable == 2
    assert status.updated_number_scheduled == 1
    assert (status.observed_generation, status.collision_count) == (3, 2)

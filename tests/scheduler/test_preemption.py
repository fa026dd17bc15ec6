"""Preemption: who has to go, and on which node it hurts least."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, cast

import pytest
from tests.build import GPU, cycle, fleet, gpus, node, pod, profile

from windtunnel.fleet import Fleet, PodView
from windtunnel.placement import Code
from windtunnel.scheduler.budgets import read_budget
from windtunnel.scheduler.preemption import Preemption, after_failure


def victim(name: str, place: str, count: int = 4, priority: int = 0, **kept: Any) -> PodView:
    minute = kept.pop("minute", 0)
    status = {"startTime": f"2026-01-01T00:{minute:02}:00Z"} | kept.pop("status", {})
    return pod(
        name, node=place, priority=priority, requests=gpus(count), labels={"app": "x"},
        status=status, **kept,
    )  # fmt: skip


def vip(count: int = 4, **kept: Any) -> PodView:
    return pod("vip", requests=gpus(count), **({"priority": 100} | kept))


def outcome(course: Generator[None, None, Preemption | None]) -> Preemption | None:
    while True:
        try:
            next(course)
        except StopIteration as end:
            return cast(Preemption | None, end.value)


def preempted(made: Fleet, one: PodView, allowed: int | None = None, **kept: Any) -> Preemption:
    searched = cycle(made, **kept)
    decision = searched.decide(one)
    assert not decision.node
    budgets = []
    if allowed is not None:
        budgets.append(
            read_budget(
                {
                    "metadata": {"name": "b", "namespace": "default"},
                    "spec": {"selector": {"matchLabels": {"app": "x"}}},
                    "status": {"disruptionsAllowed": allowed},
                }
            )
        )
    found = outcome(after_failure(searched, profile(**kept), one, decision, budgets))
    made.check()
    assert found is not None
    return found


def chosen(found: Preemption) -> tuple[str, list[str]]:
    assert found.chosen is not None
    return found.chosen.node, [one.key.name for one in found.chosen.victims]


def two(*pods: PodView) -> Fleet:
    return fleet(node("a"), node("b"), pods=pods)


CASES: dict[str, tuple[Fleet, tuple[str, list[str]]]] = {
    "only as many as needed, the least important": (
        fleet(node("a"), pods=(victim("low", "a"), victim("mid", "a", priority=5))),
        ("a", ["low"]),
    ),
    "among equals the youngest goes": (
        fleet(node("a"), pods=(victim("old", "a", minute=1), victim("young", "a", minute=2))),
        ("a", ["young"]),
    ),
    "the lowest top priority": (
        two(victim("low", "a", 8, 1), victim("high", "b", 8, 2)), ("a", ["low"]),
    ),
    "then the smallest sum": (
        two(
            victim("a1", "a", 8, 5), victim("b1", "b", 7, 5), victim("b2", "b", 1, 5)
        ),
        ("a", ["a1"]),
    ),
    "then the latest start": (
        two(victim("early", "a", 8, minute=1), victim("late", "b", 8, minute=2)), ("b", ["late"]),
    ),
    "then the first name": (two(victim("x", "b", 8), victim("y", "a", 8)), ("a", ["y"])),
}  # fmt: skip


@pytest.mark.parametrize(("made", "want"), CASES.values(), ids=CASES)
def test_who_has_to_go(made: Fleet, want: tuple[str, list[str]]) -> None:
    found = preempted(made, vip(8 if len(want[1]) > 1 else 4))

    assert (found.code, found.message) == (Code.SUCCESS, "")
    assert chosen(found) == want


def test_a_budget_is_spared_where_that_is_possible() -> None:
    other = pod("other", node="b", requests=gpus(8), priority=7)
    made = two(victim("guarded", "a", 8), other)

    assert chosen(preempted(made, vip(), allowed=0)) == ("b", ["other"])
    assert chosen(preempted(made, vip(), allowed=1)) == ("a", ["guarded"])


def test_a_budget_is_broken_where_nothing_else_helps() -> None:
    found = preempted(fleet(node("a"), pods=(victim("guarded", "a", 8),)), vip(), allowed=0)

    assert found.chosen is not None
    assert found.chosen.violations == 1


IN_VAIN = "no new claims to deallocate, preemption: 0/2 nodes are available: "
REFUSED: dict[str, tuple[Fleet, PodView, str]] = {
    "nobody less important": (
        two(victim("e", "a", 8, 100), victim("f", "b", 8, 100)), vip(),
        IN_VAIN + "2 No preemption victims found for incoming pod.",
    ),
    "what no eviction can help": (
        two(), vip(9), IN_VAIN + "2 Preemption is not helpful for scheduling.",
    ),
    "even all together are not enough": (
        two(victim("e", "a", 1), victim("f", "a", 7, 100), victim("g", "b", 8, 100)), vip(),
        IN_VAIN + f"1 Insufficient {GPU}, 1 No preemption victims found for incoming pod.",
    ),
    "who may not preempt": (
        two(victim("e", "a", 8), victim("f", "b", 8)), vip(preemptionPolicy="Never"),
        "no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("made", "one", "want"), REFUSED.values(), ids=REFUSED)
def test_in_vain(made: Fleet, one: PodView, want: str) -> None:
    found = preempted(made, one)

    assert found.code is Code.UNSCHEDULABLE
    assert found.message == want


def test_who_waits_for_leaving_victims_evicts_nobody_else() -> None:
    leaving = victim(
        "leaving", "a", 8, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"},
        status={"conditions": [
            {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
        ]},
    )  # fmt: skip
    made = two(leaving, victim("f", "b", 8))

    found = preempted(made, vip(status={"nominatedNodeName": "a"}))

    assert found.nominated is None, "the nomination is kept"
    assert found.message.endswith("not eligible due to a terminating pod on the nominated node.")


def test_a_search_that_a_gate_ended_is_told_in_the_real_quirk() -> None:
    fields = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in ("a", "b")]
    terms = {"nodeSelectorTerms": [{"matchFields": fields}]}
    one = vip(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}})

    found = preempted(two(), one)

    assert (found.code, found.message, found.nominated) == (Code.ERROR, "not found", None)


def test_without_plugins_nothing_is_tried() -> None:
    made = fleet(node("a"), pods=(victim("e", "a", 8),))
    plugins = {"postFilter": {"disabled": [{"name": "*"}]}}
    searched, chosen = cycle(made), profile(profiles=[{"plugins": plugins}])

    assert outcome(after_failure(searched, chosen, vip(), searched.decide(vip()), [])) is None


@pytest.mark.parametrize(
    ("claims", "words"),
    [([], "no new claims to deallocate"), ([{"name": "gpu"}], "still not schedulable")],
)
def test_device_claims_are_told_before_preemption(claims: list[Any], words: str) -> None:
    made = fleet(node("a"), pods=(victim("e", "a", 8, priority=200),))

    told = preempted(made, vip(resourceClaims=claims)).message

    assert told.startswith(f"{words}, preemption: ")

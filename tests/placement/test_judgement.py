"""Judgements: shared by a shape, kept true row by row, equal to asking anew."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.build import GPU, fleet, gpus, node, pod

from windtunnel.fleet import Fleet, PodView
from windtunnel.machinery.tree import Key
from windtunnel.placement import Code, Filter, Judgement, RowScore
from windtunnel.placement.judgement import Refusal
from windtunnel.placement.rules.balanced_allocation import BalancedAllocation
from windtunnel.placement.rules.image_locality import ImageLocality
from windtunnel.placement.rules.inter_pod_affinity import InterPodAffinity
from windtunnel.placement.rules.node_affinity import NodeAffinity
from windtunnel.placement.rules.node_ports import NodePorts
from windtunnel.placement.rules.node_unschedulable import NodeUnschedulable
from windtunnel.placement.rules.resource_fit import ResourceFit
from windtunnel.placement.rules.taint_toleration import TaintToleration

FILTERS: tuple[Filter, ...] = (
    NodeUnschedulable(), TaintToleration(), NodeAffinity(), NodePorts(), ResourceFit(),
    InterPodAffinity(),
)  # fmt: skip
SCORES: tuple[tuple[RowScore, int], ...] = (
    (ResourceFit(), 2), (BalancedAllocation(), 1), (ImageLocality(), 1),
)  # fmt: skip
PORTS = [{"name": "main", "ports": [{"hostPort": 80}], "resources": {"requests": gpus(1)}}]
AWAY = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {}}
        ]
    }
}
SHAPES = (
    pod("p0", requests=gpus(1)),
    pod("p1", requests=gpus(3) | {"cpu": "7"}),
    pod("p2", containers=PORTS),
    pod("p3", affinity=AWAY, requests=gpus(1)),
    pod("p4", nodeSelector={"zone": "x"}),
)


def judged(made: Fleet, one: PodView) -> Judgement:
    return Judgement(made, FILTERS, SCORES, one)


def answers(judgement: Judgement) -> tuple[list[int], list[int]]:
    judgement.refresh()
    return judgement.feasible.tolist(), judgement.totals.tolist()


CHANGES: tuple[dict[str, Any], ...] = (
    {},
    {"unschedulable": True},
    {"taints": [{"key": "t", "effect": "NoSchedule"}]},
    {"labels": {"zone": "x"}},
    {"allocatable": gpus(2)},
    {"images": [{"names": ["i"], "sizeBytes": 2**30}]},
)
"""What a node may become."""
steps = st.lists(
    st.tuples(
        st.sampled_from(SHAPES), st.integers(0, 3), st.booleans(), st.none() | st.integers(0, 5)
    ),
    max_size=25,
)


@given(steps)
def test_following_change_by_change_is_the_same_as_asking_anew(
    played: list[tuple[PodView, int, bool, int | None]],
) -> None:
    made = fleet(*(node(name) for name in "abc"), node("d", unschedulable=True))
    kept = [judged(made, one) for one in SHAPES]
    for number, (one, row, look, becomes) in enumerate(played):
        made.place(pod_like(one, number), made.names[row])
        if becomes is not None:
            made.put_node(node(made.names[3 - row], **CHANGES[becomes]))
            made.recount_images()
        if number % 5 == 4:
            made.remove(Key("default", f"q{number - 2}"))
        if look:
            for judgement, shape in zip(kept, SHAPES, strict=True):
                assert answers(judgement) == answers(judged(made, shape))
    for judgement, shape in zip(kept, SHAPES, strict=True):
        assert answers(judgement) == answers(judged(made, shape))


def pod_like(one: PodView, number: int) -> PodView:
    return replace(one, key=Key("default", f"q{number}"))


def test_many_touched_rows_are_judged_together() -> None:
    made = fleet(*(node(f"n{number}") for number in range(100)))
    judgement = judged(made, SHAPES[0])
    answers(judgement)
    for number in range(90):
        made.place(pod(f"e{number}", requests=gpus(8)), f"n{number}")

    assert answers(judgement) == answers(judged(made, SHAPES[0]))
    assert len(judgement.feasible) == 10


def test_a_changed_node_is_seen() -> None:
    made = fleet(node("a"), node("b"))
    judgement = judged(made, SHAPES[0])
    assert answers(judgement)[0] == [0, 1]

    made.put_node(node("a", unschedulable=True))

    assert answers(judgement)[0] == [1]


def test_refusals_tell_the_first_filter_that_said_no() -> None:
    made = fleet(
        node("a", unschedulable=True), node("b", allocatable=gpus(0)), node("c"),
        node("d", unschedulable=True, allocatable=gpus(0)),
    )  # fmt: skip
    judgement = judged(made, SHAPES[0])
    judgement.refresh()

    found = judgement.refusals(np.arange(4))

    cordon = Refusal(Code.UNRESOLVABLE, "NodeUnschedulable", ("node(s) were unschedulable",))
    short = Refusal(Code.UNRESOLVABLE, "NodeResourcesFit", (f"Insufficient {GPU}",))
    assert [(refusal, rows.tolist()) for refusal, rows in found] == [(cordon, [0, 3]), (short, [1])]
    assert [judgement.refusal(row) for row in range(4)] == [cordon, short, None, cordon]


def test_a_trial_is_judged_as_it_is_and_leaves_the_judgement_alone() -> None:
    made = fleet(node("a"))
    judgement = judged(made, SHAPES[0])
    before = answers(judgement)

    with made.what_if():
        made.place(pod("e", requests=gpus(8)), "a")
        assert judgement.refusal(0) is not None

    assert judgement.refusal(0) is None
    assert answers(judgement) == before

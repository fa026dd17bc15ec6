"""Chosen nodes, enforced nodes, preferred nodes."""

from __future__ import annotations

from typing import Any

import pytest
from tests.build import fleet, node, pod
from tests.placement.rules.judging import comparison, relieved, skips, verdict

from windtunnel.fleet import NodeChoice, PodView, node_terms
from windtunnel.placement import Code, What
from windtunnel.placement.rules.node_affinity import NodeAffinity

MADE = fleet(node("a", labels={"tier": "gold"}), node("b", labels={"tier": "tin"}), node("c"))
GOLD = {"matchExpressions": [{"key": "tier", "operator": "In", "values": ["gold"]}]}
EXISTS = {"matchExpressions": [{"key": "tier", "operator": "Exists"}]}


def requiring(*terms: dict[str, Any], **kept: Any) -> PodView:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [*terms]}}
    return pod(affinity={"nodeAffinity": required}, **kept)


def named(*names: str) -> dict[str, Any]:
    return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [*names]}]}


def test_what_the_profile_enforces_is_told_first() -> None:
    rule = NodeAffinity(NodeChoice(terms=node_terms({"nodeSelectorTerms": [EXISTS]})))

    found = rule.filter(pod(nodeSelector={"tier": "gold"}), MADE.view())

    assert found.passes.tolist() == [True, False, False]
    assert [(reason, rows.tolist()) for reason, rows in found.reasons] == [
        ("node(s) didn't match scheduler-enforced node affinity", [False, False, True]),
        ("node(s) didn't match Pod's node affinity/selector", [False, True, False]),
    ]


def test_selector_and_terms_must_both_hold() -> None:
    both = requiring(EXISTS, nodeSelector={"tier": "tin"})

    assert verdict(NodeAffinity(), both, MADE)[0] == [False, True, False]


GATES: dict[str, tuple[PodView, Code, set[str] | None]] = {
    "nothing chosen": (pod(), Code.SKIP, None),
    "one term without names means all nodes": (requiring(named("a"), GOLD), Code.SUCCESS, None),
    "names of all terms together": (
        requiring(named("a"), named("c", "z")), Code.SUCCESS, {"a", "c", "z"},
    ),
    "names that exclude each other": (
        requiring({"matchFields": [*named("a")["matchFields"], *named("b")["matchFields"]]}),
        Code.UNRESOLVABLE, None,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("one", "code", "names"), GATES.values(), ids=GATES)
def test_admit(one: PodView, code: Code, names: set[str] | None) -> None:
    answer = NodeAffinity().admit(one, MADE.view())

    assert answer.code is code
    assert answer.names == names


def test_weights_of_preferences_add_up() -> None:
    preferred = [{"weight": 3, "preference": GOLD}, {"weight": 1, "preference": EXISTS}]
    one = pod(
        affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    )

    assert comparison(NodeAffinity(), one, MADE) == [100, 25, 0]
    assert not NodeAffinity().applies(pod(), MADE.view())


def test_preferences_without_weight_or_terms_do_not_count() -> None:
    preferred = [{"weight": 0, "preference": GOLD}, {"weight": 5, "preference": {}}]
    one = pod(
        affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    )

    assert not NodeAffinity().applies(one, MADE.view())


NEWS = {
    "now it matches": (node(), node(labels={"tier": "gold"}), True),
    "it matched before": (node(labels={"tier": "gold"}), node(labels={"tier": "gold"}), False),
    "it does not match": (node(), node(labels={"tier": "tin"}), False),
    "a new one that matches": (None, node(labels={"tier": "gold"}), True),
}


@pytest.mark.parametrize(("before", "after", "want"), NEWS.values(), ids=NEWS)
def test_relieved(before: object, after: object, want: bool) -> None:
    what = What.NODE_ADDED if before is None else What.NODE_LABELS
    one = pod(nodeSelector={"tier": "gold"})

    news = {"node_before": before, "node": after}
    assert relieved(NodeAffinity(), one, MADE, what, **news) is want


def test_the_gate_is_open_for_plain_pods() -> None:
    assert skips(NodeAffinity(), pod(), MADE)

"""Near to some pods, away from others, and the others' own wishes."""

from __future__ import annotations

from typing import Any

import pytest
from tests.build import fleet, node, pod
from tests.placement.rules.judging import Answer, comparison, relieved, skips, verdict

from windtunnel.fleet import Fleet, PodView
from windtunnel.placement import What
from windtunnel.placement.rules.inter_pod_affinity import InterPodAffinity

FAR = "node(s) didn't match pod affinity rules"
NEAR = "node(s) didn't match pod anti-affinity rules"
UNWELCOME = "node(s) didn't satisfy existing pods anti-affinity rules"


def term(app: str, key: str = "zone") -> dict[str, Any]:
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}


def wishing(
    part: str, *terms: dict[str, Any], weight: int = 0, app: str = "", **kept: Any
) -> PodView:
    rule = "requiredDuringSchedulingIgnoredDuringExecution"
    wishes: list[Any] = [*terms]
    if weight:
        rule = "preferredDuringSchedulingIgnoredDuringExecution"
        wishes = [{"weight": weight, "podAffinityTerm": one} for one in terms]
    labels = {"app": app} if app else {}
    return pod(**({"labels": labels, "affinity": {part: {rule: wishes}}} | kept))


def existing(app: str, place: str = "a", name: str = "e", **kept: Any) -> PodView:
    return pod(name, labels={"app": app}, node=place, **kept)


def zones(*pods: PodView) -> Fleet:
    return fleet(
        node("a", labels={"zone": "x"}), node("b", labels={"zone": "y"}), node("c"), pods=pods
    )


NEAR_X = wishing("podAffinity", term("x"))
AWAY_X = wishing("podAntiAffinity", term("x"))

CASES: dict[str, tuple[PodView, Fleet, Answer]] = {
    "near a pod, by its zone": (
        NEAR_X, zones(existing("x")), ([True, False, False], [FAR], [False, True, True]),
    ),
    "nobody to be near to": (NEAR_X, zones(), ([False] * 3, [FAR], [True] * 3)),
    "the first of its kind starts anywhere with the key": (
        wishing("podAffinity", term("x"), app="x"), zones(),
        ([True, True, False], [FAR], [False, False, True]),
    ),
    "a pod must match all terms to count": (
        wishing("podAffinity", term("x"), term("y")), zones(existing("x")),
        ([False] * 3, [FAR], [True] * 3),
    ),
    "away from a pod, not now": (
        AWAY_X, zones(existing("x")), ([False, True, True], [NEAR], [False] * 3),
    ),
    "an existing pod wants to be away": (
        pod(labels={"app": "x"}),
        zones(wishing("podAntiAffinity", term("x"), name="e", node="a")),
        ([False, True, True], [UNWELCOME], [False] * 3),
    ),
    "pods of other namespaces do not count": (
        AWAY_X, zones(existing("x", namespace="other")), ([True] * 3, [], [False] * 3),
    ),
    "unless the term says so": (
        wishing("podAntiAffinity", {**term("x"), "namespaceSelector": {}}),
        zones(existing("x", namespace="other")), ([False, True, True], [NEAR], [False] * 3),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("one", "made", "want"), CASES.values(), ids=CASES)
def test_filter(one: PodView, made: Fleet, want: Answer) -> None:
    assert verdict(InterPodAffinity(), one, made) == want


def test_plain_pods_are_asked_only_where_somebody_wants_to_be_away_from_them() -> None:
    away = wishing("podAntiAffinity", term("x"), name="e", node="a")

    assert skips(InterPodAffinity(), pod(), zones(away))
    assert not skips(InterPodAffinity(), pod(labels={"app": "x"}), zones(away))


SCORES: dict[str, tuple[InterPodAffinity, PodView, Fleet, list[int]]] = {
    "preferred company": (
        InterPodAffinity(), wishing("podAffinity", term("x"), weight=5),
        zones(existing("x")), [100, 0, 0],
    ),
    "unwanted company": (
        InterPodAffinity(), wishing("podAntiAffinity", term("x"), weight=5),
        zones(existing("x")), [0, 100, 100],
    ),
    "an existing pod's need for company": (
        InterPodAffinity(), pod(labels={"app": "x"}),
        zones(wishing("podAffinity", term("x"), name="e", node="b")), [0, 100, 0],
    ),
    "an existing pod's preference": (
        InterPodAffinity(), pod(labels={"app": "x"}),
        zones(wishing("podAntiAffinity", term("x"), weight=2, name="e", node="b")), [100, 0, 100],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("rule", "one", "made", "want"), SCORES.values(), ids=SCORES)
def test_compare(rule: InterPodAffinity, one: PodView, made: Fleet, want: list[int]) -> None:
    assert rule.applies(one, made.view())
    assert comparison(rule, one, made) == want


def test_existing_preferences_can_be_ignored() -> None:
    made = zones(wishing("podAffinity", term("x"), weight=2, name="e", node="b"))
    rule = InterPodAffinity(ignore_existing_preferences=True)

    assert not rule.applies(pod(labels={"app": "x"}), made.view())


def test_company_of_weight_nothing_is_no_company() -> None:
    made = zones(wishing("podAffinity", term("x"), name="e", node="b"))

    assert not InterPodAffinity(hard_weight=0).applies(pod(labels={"app": "x"}), made.view())


BOTH = wishing("podAntiAffinity", term("x"), term("y"))
NEWS = {
    "wanted company came": (NEAR_X, What.POD_PLACED, {"pod": existing("x")}, True),
    "other company came": (NEAR_X, What.POD_PLACED, {"pod": existing("y")}, False),
    "unwanted company went": (AWAY_X, What.POD_GONE, {"pod_before": existing("x")}, True),
    "company unwanted by one of two terms went": (
        BOTH, What.POD_GONE, {"pod_before": existing("x")}, False,
    ),
    "who did not want the pod went": (
        pod(labels={"app": "x"}), What.POD_GONE,
        {"pod_before": wishing("podAntiAffinity", term("x"), name="e")}, True,
    ),
    "a pod became unlike": (
        AWAY_X, What.POD_LABELS, {"pod_before": existing("x"), "pod": existing("y")}, True,
    ),
    "a node with the key came": (
        NEAR_X, What.NODE_ADDED, {"node": node("n", labels={"zone": "x"})}, True,
    ),
    "a node without the key came": (NEAR_X, What.NODE_ADDED, {"node": node("n")}, False),
    "any node is good for who wants to be away": (
        AWAY_X, What.NODE_ADDED, {"node": node("n")}, True,
    ),
    "a node lost the key": (
        NEAR_X, What.NODE_LABELS,
        {"node_before": node("n", labels={"zone": "x"}), "node": node("n")}, False,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("one", "what", "news", "want"), NEWS.values(), ids=NEWS)
def test_relieved(one: PodView, what: What, news: dict[str, object], want: bool) -> None:
    assert relieved(InterPodAffinity(), one, zones(), what, **news) is want

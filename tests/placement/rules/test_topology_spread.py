"""Spread: skew, domains, policies, defaults."""

from __future__ import annotations

from typing import Any

import pytest
from tests.build import change, fleet, node, pod
from tests.placement.rules.judging import Answer, comparison, relieved, skips, verdict

from windtunnel.fleet import Fleet, PodView, SpreadConstraint
from windtunnel.machinery.selectors import EVERYTHING
from windtunnel.placement import What
from windtunnel.placement.rules.topology_spread import TopologySpread

MISSING = "node(s) didn't match pod topology spread constraints (missing required label)"
SKEW = "node(s) didn't match pod topology spread constraints"
APP = {"app": "x"}


def constraint(key: str = "zone", *, hard: bool = True, **kept: Any) -> dict[str, Any]:
    return {
        "topologyKey": key,
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
        "labelSelector": {"matchLabels": APP},
    } | kept


def spreading(*constraints: dict[str, Any], **kept: Any) -> PodView:
    return pod(labels=APP, topologySpreadConstraints=[*constraints], **kept)


def zones(*pods: PodView) -> Fleet:
    """Nodes a and b in zones x and y, c without a zone."""
    return fleet(
        node("a", labels={"zone": "x"}), node("b", labels={"zone": "y"}), node("c"), pods=pods
    )


def at(place: str, name: str = "e", **kept: Any) -> PodView:
    return pod(name, node=place, **({"labels": APP} | kept))


LEAVING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}

CASES: dict[str, tuple[PodView, Fleet, Answer]] = {
    "the fuller zone is refused, and nodes without one": (
        spreading(constraint()),
        zones(at("a")),
        ([False, True, False], [MISSING, SKEW], [False, False, True]),
    ),
    "within the skew all zones pass": (
        spreading(constraint(maxSkew=2)), zones(at("a")),
        ([True, True, False], [MISSING], [False, False, True]),
    ),
    "pods of other namespaces do not count": (
        spreading(constraint()), zones(at("a", namespace="other")),
        ([True, True, False], [MISSING], [False, False, True]),
    ),
    "leaving pods do not count": (
        spreading(constraint()), zones(at("a", metadata=LEAVING)),
        ([True, True, False], [MISSING], [False, False, True]),
    ),
    "too few domains make the least zero": (
        spreading(constraint(minDomains=3)), zones(at("a"), at("b", "f")),
        ([False, False, False], [MISSING, SKEW], [False, False, True]),
    ),
    "an empty selector counts nobody": (
        spreading(constraint(labelSelector={})), zones(at("a")),
        ([True, True, False], [MISSING], [False, False, True]),
    ),
    "zones the pod cannot use do not count": (
        spreading(constraint(), nodeSelector={"zone": "x"}), zones(at("a")),
        ([True, True, False], [MISSING], [False, False, True]),
    ),
    "unless the policy ignores affinity": (
        spreading(constraint(nodeAffinityPolicy="Ignore"), nodeSelector={"zone": "x"}),
        zones(at("a")),
        ([False, True, False], [MISSING, SKEW], [False, False, True]),
    ),
    "a skewed node is not told to lack a later key": (
        spreading(constraint(), constraint("rack")),
        fleet(node("a", labels={"zone": "x", "rack": "1"}), node("b", labels={"zone": "y"})),
        ([True, False], [MISSING], [False, True]),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("one", "made", "want"), CASES.values(), ids=CASES)
def test_filter(one: PodView, made: Fleet, want: Answer) -> None:
    assert verdict(TopologySpread(), one, made) == want


def test_pods_without_hard_constraints_are_not_asked() -> None:
    assert skips(TopologySpread(), spreading(constraint(hard=False)), zones())


def test_tainted_zones_count_unless_the_policy_honors_taints() -> None:
    taints = [{"key": "k", "effect": "NoSchedule"}]
    made = fleet(
        node("a", labels={"zone": "x"}), node("b", labels={"zone": "y"}, taints=taints),
        pods=(at("a"),),
    )  # fmt: skip

    assert verdict(TopologySpread(), spreading(constraint()), made)[0] == [False, True]
    honoring = spreading(constraint(nodeTaintsPolicy="Honor"))
    assert verdict(TopologySpread(), honoring, made)[0] == [True, True]


def test_emptier_domains_are_better_and_nodes_without_the_key_get_nothing() -> None:
    soft = spreading(constraint(hard=False))

    assert comparison(TopologySpread(), soft, zones(at("a"), at("a", "f"))) == [0, 100, 0]
    assert comparison(TopologySpread(), soft, zones()) == [100, 100, 0]


def test_defaults_spread_the_pods_of_a_service() -> None:
    made = zones(at("a"), at("a", "f"))
    service = {"metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": APP}}
    plain = pod(labels=APP)
    assert not TopologySpread().applies(plain, made.view())

    made.apply("services", change("ADDED", service))

    assert TopologySpread().applies(plain, made.view())
    scores = comparison(TopologySpread(), plain, made)
    assert scores[0] < scores[1]
    assert scores[1] == scores[2], "system defaults score nodes without the keys, too"


def test_a_profile_may_give_hard_defaults() -> None:
    rule = TopologySpread((SpreadConstraint("zone", 1, True, EVERYTHING),), system_defaults=False)
    made = zones(at("a"))
    service = {"metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": APP}}
    made.apply("services", change("ADDED", service))

    assert verdict(rule, pod(labels=APP), made)[0] == [False, True, False]


ZONED = node("n", labels={"zone": "x"})
NEWS = {
    "a counted pod came": (What.POD_PLACED, {"pod": at("a")}, True),
    "another pod came": (What.POD_PLACED, {"pod": at("a", labels={})}, False),
    "a counted pod of another namespace went": (
        What.POD_GONE, {"pod_before": at("a", namespace="other")}, False,
    ),
    "a pod became counted": (
        What.POD_LABELS, {"pod_before": at("a", labels={}), "pod": at("a")}, True,
    ),
    "a node with the key came": (What.NODE_ADDED, {"node": ZONED}, True),
    "a node without the key came": (What.NODE_ADDED, {"node": node("n")}, False),
    "a node got the key": (What.NODE_LABELS, {"node_before": node("n"), "node": ZONED}, True),
    "a node changed in other labels": (
        What.NODE_LABELS,
        {"node_before": ZONED, "node": node("n", labels={"zone": "x", "z": "1"})}, False,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("what", "news", "want"), NEWS.values(), ids=NEWS)
def test_relieved(what: What, news: dict[str, object], want: bool) -> None:
    assert relieved(TopologySpread(), spreading(constraint()), zones(), what, **news) is want

"""One search: gate, nominated node, sampling, winner."""

from __future__ import annotations

from typing import Any

from tests.build import GPU, cycle, fleet, gpus, node, pod

from windtunnel.fleet import PodView
from windtunnel.placement import Code
from windtunnel.placement.search import Nominations
from windtunnel.placement.search.cycle import Cycle


def named(*names: str) -> PodView:
    field = {"key": "metadata.name", "operator": "In", "values": [*names]}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    return pod(affinity={"nodeAffinity": required})


def many(count: int, **kept: Any) -> Cycle:
    return cycle(fleet(*(node(f"n{number:03}") for number in range(count))), **kept)


def test_without_nodes_nothing_is_asked() -> None:
    decision = cycle(fleet()).decide(pod())

    assert (decision.node, decision.nodes) == ("", 0)


def test_the_emptiest_node_wins() -> None:
    made = fleet(node("a"), node("b"), pods=(pod("e", node="a", requests={"cpu": "48"}),))

    assert cycle(made).decide(pod(requests=gpus(1))).node == "b"


def test_a_single_feasible_node_is_not_scored() -> None:
    made = fleet(node("a"), node("b", allocatable=gpus(0)))

    decision = cycle(made).decide(pod(requests=gpus(1)), details=True)

    assert (decision.node, decision.found, decision.scores) == ("a", ("a",), None)
    assert [one.nodes for one in decision.refused] == [("b",)]


def test_details_change_nothing_but_what_is_kept() -> None:
    plain, detailed = many(150), many(150)
    for number in range(20):
        one = pod(f"p{number}", requests=gpus(1))
        first = plain.decide(one)
        second = detailed.decide(one, details=True)
        assert first.node == second.node
        assert second.scores is not None
        assert second.scores.total[second.scores.nodes.index(second.node)] == max(
            second.scores.total
        )
        plain.fleet.place(one, first.node)
        detailed.fleet.place(one, second.node)


def test_the_walk_goes_on_where_the_last_one_ended() -> None:
    made = many(200, percentageOfNodesToScore=50)

    first = made.decide(pod("a"), details=True)
    second = made.decide(pod("b"), details=True)

    assert first.found[0] == "n000"
    assert (first.feasible, first.surplus) == (100, "n100")
    assert second.found[0] == "n100"


def test_only_named_nodes_are_looked_at() -> None:
    decision = cycle(fleet(node("a"), node("b"), node("c"))).decide(named("b", "z"))

    assert decision.node == "b"
    assert decision.gate.names == ("b", "z")


def test_a_gate_that_is_shut_ends_the_search() -> None:
    fields = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in ("a", "b")]
    terms = {"nodeSelectorTerms": [{"matchFields": fields}]}
    one = pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}})

    decision = cycle(fleet(node("a"))).decide(one)

    assert decision.gate.code is Code.UNRESOLVABLE
    assert decision.message() == "0/1 nodes are available: pod affinity terms conflict."


def test_the_nominated_node_is_tried_first() -> None:
    made = fleet(node("a"), node("b"), pods=(pod("e", node="a", requests=gpus(4)),))
    one = pod(requests=gpus(4), status={"nominatedNodeName": "a"})

    decision = cycle(made).decide(one)

    assert (decision.node, decision.nominated_tried) == ("a", "a")


def test_a_nominated_node_that_is_full_leads_to_a_full_search() -> None:
    made = fleet(node("a"), node("b"), pods=(pod("e", node="a", requests=gpus(8)),))
    one = pod(requests=gpus(4), status={"nominatedNodeName": "a"})

    decision = cycle(made).decide(one)

    assert (decision.node, decision.nominated_tried) == ("b", "a")


def test_room_that_others_wait_for_is_not_given_away() -> None:
    made = fleet(node("a"))
    nominations = Nominations()
    waiting = pod("w", priority=10, requests=gpus(6))
    nominations.put(waiting, "a")
    searched = Cycle(made, cycle(made).rules, nominations)

    refused = searched.decide(pod(requests=gpus(4)))
    assert refused.node == ""
    assert refused.message() == f"0/1 nodes are available: 1 Insufficient {GPU}."

    assert searched.decide(pod("h", priority=11, requests=gpus(4))).node == "a"
    assert searched.decide(waiting).node == "a"
    made.check()


def test_without_scores_the_first_feasible_node_is_taken() -> None:
    made = many(5, profiles=[{"plugins": {"score": {"disabled": [{"name": "*"}]}}}])

    assert [made.decide(pod(str(number))).node for number in range(3)] == ["n000", "n001", "n002"]

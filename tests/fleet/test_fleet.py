"""The fleet: changes in, numbers kept, trials undone to the last bit."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.build import GPU, change, fleet, gpus, node, node_tree, pod, pod_tree

from windtunnel.errors import BrokenInvariant
from windtunnel.fleet import Fleet
from windtunnel.fleet.pod_terms import PodQuery, affinity_term
from windtunnel.machinery.tree import Key

ANTI = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "1"}}}
        ]
    }
}
QUERY = PodQuery((affinity_term({"labelSelector": {"matchLabels": {"app": "1"}}}, "default").pods,))


def used(made: Fleet) -> list[int]:
    return made.view().using(GPU).tolist()


def test_pods_come_and_go_with_changes() -> None:
    made = fleet(node("a"))
    made.apply("pods", change("ADDED", pod_tree(node="a", requests=gpus(3))))
    assert used(made) == [3]

    made.apply("pods", change("MODIFIED", pod_tree(node="a", requests=gpus(5))))
    assert used(made) == [5]

    made.apply("pods", change("DELETED", pod_tree(node="a", requests=gpus(5))))
    assert used(made) == [0]


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_finished_pod_uses_nothing(phase: str) -> None:
    made = fleet(node("a"), pods=(pod(node="a", requests=gpus(3)),))

    made.apply("pods", change("MODIFIED", pod_tree(node="a", status={"phase": phase})))

    assert used(made) == [0]


def test_a_pod_may_come_before_its_node_and_stay_after_it() -> None:
    made = fleet(node("a"))
    made.place(pod(requests=gpus(2)), "late")
    made.put_node(node("late"))
    assert used(made) == [0, 2]

    made.remove_node("late")
    made.put_node(node("late"))
    assert used(made) == [0, 2]
    made.check()


def test_new_nodes_are_sorted_in_and_numbers_move_with_them() -> None:
    zone = "topology.kubernetes.io/zone"
    made = fleet(node("a1", labels={zone: "a"}), node("a2", labels={zone: "a"}))
    made.place(pod(requests=gpus(2)), "a2")
    made.put_node(node("b1", labels={zone: "b"}))

    assert list(made.names) == ["a1", "b1", "a2"]
    assert used(made) == [0, 0, 2]
    made.check()


def test_a_change_of_zone_alone_does_not_move_a_row() -> None:
    zone = "topology.kubernetes.io/zone"
    made = fleet(node("a1", labels={zone: "a"}), node("b1", labels={zone: "b"}))
    assert list(made.names) == ["a1", "b1"]

    made.put_node(node("a1", labels={zone: "b"}))
    assert list(made.names) == ["a1", "b1"]

    made.put_node(node("b2", labels={zone: "b"}))
    assert list(made.names) == ["b1", "a1", "b2"]


def test_touched_rows_are_told_and_changed_nodes_mean_everything() -> None:
    made = fleet(node("a"), node("b"))
    mark = made.mark()
    made.place(pod(), "b")
    assert list(made.touched_since(mark) or ()) == [1]

    made.apply("nodes", change("MODIFIED", node_tree("a")))
    assert made.touched_since(mark) is not None, "a heartbeat is no news"

    made.apply("nodes", change("MODIFIED", node_tree("a", unschedulable=True)))
    assert made.touched_since(mark) is None


def test_a_trial_that_nobody_looked_into_touches_nothing() -> None:
    made = fleet(node("a"), node("b"))
    mark = made.mark()
    with made.what_if():
        made.place(pod(), "b")
        with made.what_if():
            made.place(pod("q"), "a")
    assert list(made.touched_since(mark) or ()) == []

    with made.what_if():
        made.place(pod(), "b")
        inside = made.mark()
    assert list(made.touched_since(inside) or ()) == [1], "what was seen must be looked at again"


def test_a_renamed_namespace_label_makes_counts_anew() -> None:
    made = fleet(node("a"), pods=(pod(node="a", namespace="red"),))
    term = affinity_term(
        {"namespaceSelector": {"matchLabels": {"team": "x"}}, "labelSelector": {}}, "default"
    )
    query = PodQuery((term.pods,))
    assert made.count(query).tolist() == [0]

    made.put_namespace("red", {"team": "x"})

    assert made.count(query).tolist() == [1]


def test_nodes_may_not_change_inside_a_trial() -> None:
    made = fleet(node("a"))

    with made.what_if(), pytest.raises(BrokenInvariant):
        made.put_node(node("b"))


def test_check_notices_a_wrong_number() -> None:
    made = fleet(node("a"), pods=(pod(node="a", requests=gpus(1)),))
    made.load[0, -1] += 1

    with pytest.raises(BrokenInvariant, match="load"):
        made.check()


Move = tuple[int, str | None]
moves = st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["a", "b", None])), max_size=12)


def play(made: Fleet, played: list[Move]) -> None:
    for number, place in played:
        name = f"p{number}"
        if place is None:
            made.remove(Key("default", name))
        else:
            one = pod(
                name,
                labels={"app": str(number % 2)},
                requests=gpus(number),
                affinity=ANTI if number % 3 == 0 else {},
            )
            made.place(one, place)


def state(made: Fleet) -> object:
    carried = made.carried("anti_affinity")
    return (
        made.load.tolist(),
        {name: [one.key for one in made.pods_on(name)] for name in made.names},
        made.count(QUERY).tolist(),
        [column.tolist() for column in carried.values() if column.any()],
    )


@given(before=moves, outer=moves, inner=moves, after=moves)
def test_a_trial_leaves_no_trace(
    before: list[Move], outer: list[Move], inner: list[Move], after: list[Move]
) -> None:
    made = fleet(node("a"), node("b"))
    play(made, before)
    made.count(QUERY)
    found = state(made)
    with made.what_if():
        play(made, outer)
        between = state(made)
        with made.what_if():
            play(made, inner)
        assert state(made) == between
        play(made, after)
    assert state(made) == found
    made.check()


@given(played=moves, tried=st.booleans())
def test_numbers_are_what_pods_and_nodes_say(played: list[Move], tried: bool) -> None:
    made = fleet(node("a"))
    made.count(QUERY)
    play(made, played)
    made.put_node(node("b", labels={"zone": "x"}))
    context: AbstractContextManager[None] = made.what_if() if tried else nullcontext()
    with context:
        play(made, played)
        made.check()
    made.check()
    assert np.all(made.load >= 0)

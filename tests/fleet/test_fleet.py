"""The fleet: changes in, numbers kept, trials undone to the last bit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.build import GPU, change, fleet, gpus, node, node_tree, pod, pod_tree

from windtunnel.errors import BrokenInvariant
from windtunnel.fleet import HARD, Fleet
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


def test_touched_rows_are_told_and_which_of_their_nodes_changed() -> None:
    made = fleet(node("a"), node("b"))
    mark = made.mark()
    made.place(pod(), "b")
    assert list(made.touched_since(mark) or ()) == [1]

    made.apply("nodes", change("MODIFIED", node_tree("a")))
    assert list(made.touched_since(mark) or ()) == [1], "a heartbeat is no news"

    made.apply("nodes", change("MODIFIED", node_tree("a", unschedulable=True)))
    assert list(made.touched_since(mark) or ()) == [1, 0]
    assert list(made.rewritten_since(mark)) == [0]


IMAGE = [{"names": ["i"], "sizeBytes": 7}]
ABOUT_ALL: dict[str, Callable[[Fleet], None]] = {
    "a node that comes": lambda made: made.put_node(node("c")),
    "a node that goes": lambda made: made.remove_node("b"),
    "images, which are counted over all nodes": lambda made: made.put_node(node("a", images=IMAGE)),
}


@pytest.mark.parametrize("change_one", ABOUT_ALL.values(), ids=ABOUT_ALL)
def test_what_concerns_more_than_one_row_means_everything(
    change_one: Callable[[Fleet], None],
) -> None:
    made = fleet(node("a"), node("b"))
    mark = made.mark()

    change_one(made)

    assert made.touched_since(mark) is None


def test_a_node_that_changes_in_a_trial_means_everything() -> None:
    made = fleet(node("a"), node("b"))
    mark = made.mark()
    with made.what_if():
        made.put_node(node("a", unschedulable=True))
        assert made.touched_since(mark) is None

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


def test_a_question_about_other_nodes_is_a_trial() -> None:
    zone = "topology.kubernetes.io/zone"
    made = fleet(node("a", labels={zone: "a"}), node("b", labels={zone: "b"}))
    made.place(pod("p", requests=gpus(2)), "a")
    made.put_node(node("a", labels={zone: "b"}))  # its row stays until a node comes or goes
    with made.what_if():
        made.put_node(node("c", images=[{"names": ["i"], "sizeBytes": 7}]))
        made.remove_node("a")
        assert list(made.names) == ["b", "c"]
        assert made.images.of("i") == (7, {"c": 1})
    assert list(made.names) == ["a", "b"]
    assert used(made) == [2, 0]
    assert made.images.of("i") == (0, {})
    made.check()


def test_check_notices_a_wrong_number() -> None:
    made = fleet(node("a"), pods=(pod(node="a", requests=gpus(1)),))
    made.load[0, -1] += 1

    with pytest.raises(BrokenInvariant, match="load"):
        made.check()


LATER = {
    "nothing": {},
    "labels": {"labels": {"app": "1"}},
    "labels and anti-affinity": {"labels": {"app": "1"}, "affinity": ANTI},
    "requests": {"requests": gpus(2)},
    "another node": {"node": "b"},
    "a port": {"containers": [{"name": "main", "ports": [{"hostPort": 80}]}]},
    "going": {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}},
}


@pytest.mark.parametrize("kept", LATER.values(), ids=LATER)
def test_a_pod_that_changes_in_place_is_counted_as_it_is(kept: dict[str, Any]) -> None:
    made = fleet(node("a"), node("b"), pods=(pod("p", node="a", requests=gpus(1)),))
    made.place(pod("q"), "a")
    made.count(QUERY)
    mark = made.mark()
    later = pod("p", **({"node": "a", "requests": gpus(1)} | kept))

    made.place(later, later.node)

    assert made.placed(later.key) is later
    assert bool(made.touched_since(mark)) == bool(kept)
    made.check()


Move = tuple[int, str | None] | str
pod_moves = st.tuples(st.integers(0, 5), st.sampled_from(["a", "b", "c", None]))
node_moves = st.sampled_from(["+a", "+c", "-a", "-b", "+zoned b", "+cordoned a", "+large b"])
moves = st.lists(pod_moves, max_size=12)
all_moves = st.lists(st.one_of(pod_moves, node_moves), max_size=12)
NODES = {
    "+a": node("a"),
    "+c": node("c", labels={"zone": "x"}, images=[{"names": ["i"], "sizeBytes": 7}]),
    "+zoned b": node("b", labels={"topology.kubernetes.io/zone": "z", "zone": "x"}),
    "+cordoned a": node("a", unschedulable=True, taints=[{"key": "t", "effect": "NoSchedule"}]),
    "+large b": node("b", allocatable=gpus(16)),
}


def play(made: Fleet, played: Sequence[Move]) -> None:
    for move in played:
        if isinstance(move, str):
            if move.startswith("-"):
                made.remove_node(move[1:])
            else:
                made.put_node(NODES[move])
            continue
        number, place = move
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
    view = made.view()
    return (
        list(made.names),
        made.load.tolist(),
        made.capacity.tolist(),
        view.unschedulable.tolist(),
        view.untolerated((), HARD).tolist(),
        view.label("zone").present.tolist(),
        made.images.of("i"),
        {name: [one.key for one in made.pods_on(name)] for name in "abc"},
        made.count(QUERY).tolist(),
        [column.tolist() for column in carried.values() if column.any()],
    )


@given(before=all_moves, outer=all_moves, inner=all_moves, after=all_moves)
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

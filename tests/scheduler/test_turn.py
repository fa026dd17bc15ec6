"""A turn in pieces comes to what it comes to at once, and news waits for its end."""

from __future__ import annotations

import pytest
from tests.build import change, gpus, node_tree, pod_tree
from tests.scheduler.conftest import Stage

from windtunnel.kernel import VirtualClock
from windtunnel.scheduler import Attempt, Engine, read_configuration

NODES = 12


def crowded() -> Engine:
    """Full nodes, and a pod that may make room on each of them."""
    made = Engine(read_configuration(), VirtualClock(1000.0))
    for number in range(NODES):
        made.observe("nodes", change("ADDED", node_tree(f"n{number:02}")))
        for which in "ab":
            pod = pod_tree(
                f"{which}{number}", node=f"n{number:02}", priority=number % 5, requests=gpus(4)
            )
            made.observe("pods", change("ADDED", pod))
    made.observe("pods", change("ADDED", pod_tree("vip", priority=100, requests=gpus(4))))
    return made


def in_pieces(made: Engine, pieces: int) -> tuple[Attempt | None, int]:
    turn, times = made.turn(), 1
    while not turn.go_on(pieces):
        times += 1
    return turn.attempt, times


@pytest.mark.parametrize("pieces", [1, 2, 5, 1000])
def test_pieces_change_nothing_about_the_outcome(pieces: int) -> None:
    want = crowded().attempt()
    got, times = in_pieces(crowded(), pieces)

    assert want is not None
    assert got is not None
    assert want.preemption is not None
    assert got.preemption is not None
    assert got.message == want.message
    assert got.preemption.nominated == want.preemption.nominated == "n00"
    names = [
        [(one.node, [str(victim.key) for victim in one.victims]) for one in found.candidates]
        for found in (want.preemption, got.preemption)
    ]
    assert names[0] == names[1]
    assert times == (3 * NODES + 2) // pieces + 1, "a piece is a node or a pod on it"


def test_news_in_a_turn_waits_for_its_end_and_keeps_its_order() -> None:
    made = crowded()
    turn = made.turn()
    assert not turn.go_on(3)
    told: list[str] = []
    made.between_turns(lambda: told.append("first"))
    made.observe("nodes", change("DELETED", node_tree("n00")))
    made.between_turns(lambda: told.append("second"))
    assert (told, "n00" in made.fleet.facts) == ([], True)

    assert turn.go_on()

    assert turn.attempt is not None
    assert turn.attempt.preemption is not None
    assert turn.attempt.preemption.nominated == "n00", "as everything was when it began"
    assert (told, "n00" in made.fleet.facts) == (["first", "second"], False)
    made.fleet.check()


def test_a_turn_that_is_given_up_leaves_no_trace() -> None:
    made = crowded()
    load = made.fleet.load.copy()
    turn = made.turn()
    turn.go_on(3)

    turn.give_up()

    assert (made.fleet.load == load).all()
    made.fleet.check()


def test_making_room_takes_several_steps_of_the_loop(stage: Stage) -> None:
    vip = {"metadata": {"name": "vip"}, "value": 9}
    stage.client.create("priorityclasses.scheduling.k8s.io", vip)
    stage.start()
    for number in range(6):
        stage.node(f"n{number}")
        for which in range(8):
            stage.pod(f"p{number}-{which}", requests=gpus(1))
    stage.run()
    stage.pod("vip", requests=gpus(8), priorityClassName="vip")
    stage.run()

    node = stage.get("vip")["status"]["nominatedNodeName"]
    pods = stage.client.list("pods")
    going = [pod for pod in pods if pod["metadata"].get("deletionTimestamp")]
    assert [pod["spec"]["nodeName"] for pod in going] == [node] * 8

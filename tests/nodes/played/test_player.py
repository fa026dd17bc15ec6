from collections.abc import Iterable, Sequence
from typing import Any, cast

import pytest

from windtunnel.client import Change, Client, Write
from windtunnel.errors import ClusterError
from windtunnel.kernel import Loop, Parked, VirtualClock
from windtunnel.machinery.errors import NotFound, TooManyRequests
from windtunnel.machinery.tree import Key, Tree, encode
from windtunnel.nodes.played.player import Names, Player, merged
from windtunnel.nodes.played.stages import After, StageDocument, compile_stage

KEY = Key("ns", "p")


class Refusing:
    """Answers each write with the next of the given outcomes, then with success."""

    def __init__(self, *outcomes: Exception) -> None:
        self.outcomes = list(outcomes)
        self.writes: list[Write] = []

    def write_many(self, writes: Sequence[Write]) -> Iterable[Exception | None]:
        self.writes.extend(writes)
        return [self.outcomes.pop(0) if self.outcomes else None for _ in writes]


class Pods:
    resource = "pods"
    paths: tuple[str, ...] = ()

    def names(self, tree: Tree) -> Names | None:
        return {"now": "now"}


def player(client: Refusing, loop: Loop, seconds: float = 0) -> Player:
    document = StageDocument(
        name="run", resource="pods", when={"phase": ["Pending"]},
        after=After(seconds), status={"phase": "Running"},
    )  # fmt: skip
    return Player(cast(Client, client), loop, Pods(), [compile_stage(document)], lambda: 0.5)


def body(phase: str = "Pending") -> bytes:
    return encode({"metadata": {"uid": "u"}, "phase": phase})


def take(player_: Player, phase: str = "Pending") -> None:
    player_.take(KEY, body(phase), player_.glance(Change("MODIFIED", KEY, 1, body(phase))))


def played(*outcomes: Exception, seconds: float = 30.0) -> int:
    loop, client = Loop(VirtualClock()), Refusing(*outcomes)
    take(player(client, loop))
    loop.run_virtual(seconds)
    return len(client.writes)


def test_a_stage_is_played_once() -> None:
    assert played() == 1


def test_what_is_refused_for_now_is_tried_again() -> None:
    assert played(TooManyRequests("later"), TooManyRequests("later")) == 3


def test_what_is_refused_for_good_is_dropped() -> None:
    assert played(NotFound.of("pods", "", "p")) == 1


def test_a_parked_write_goes_on_when_the_answer_is_there() -> None:
    waiting: list[Any] = []
    loop, client = Loop(VirtualClock()), Refusing(Parked(waiting.append))
    take(player(client, loop))
    loop.run_virtual()
    assert len(client.writes) == 1

    waiting[0]()
    loop.run_virtual()

    assert len(client.writes) == 2


def test_a_newer_state_takes_back_what_was_planned() -> None:
    loop, client = Loop(VirtualClock()), Refusing()
    player_ = player(client, loop, seconds=10)
    take(player_)
    loop.run_virtual(5)
    take(player_, "Done")
    loop.run_virtual(60)

    assert client.writes == []


class Reading(Refusing):
    """Has one object to read."""

    def __init__(self, tree: Tree | None) -> None:
        super().__init__()
        self.tree = tree

    def get(self, resource: str, key: Key) -> Tree | None:
        return self.tree


@pytest.mark.parametrize(
    ("tree", "want"), [({"metadata": {}, "phase": "Pending"}, 1), ({"phase": "Done"}, 0), (None, 0)]
)
def test_an_object_can_be_read_when_its_turn_comes(tree: Tree | None, want: int) -> None:
    loop, client = Loop(VirtualClock()), Reading(tree)
    player(client, loop).read(KEY)
    loop.run_virtual()

    assert len(client.writes) == want


def test_a_lost_connection_is_waited_for() -> None:
    assert played(ClusterError("nobody answers"), ClusterError("nobody answers")) == 3


def test_a_dropped_object_is_forgotten() -> None:
    loop, client = Loop(VirtualClock()), Refusing()
    player_ = player(client, loop, seconds=10)
    take(player_)
    loop.run_virtual(5)
    player_.drop(KEY)
    loop.run_virtual(60)

    assert client.writes == []


def conditions(**statuses: str) -> list[Tree]:
    return [{"type": type_, "status": status} for type_, status in statuses.items()]


MERGES: dict[str, tuple[Tree, Tree, Tree]] = {
    "values are replaced": ({"a": 1, "b": 2}, {"b": 3}, {"a": 1, "b": 3}),
    "maps are merged": ({"m": {"a": 1}}, {"m": {"b": 2}}, {"m": {"a": 1, "b": 2}}),
    "conditions are merged by type": (
        {"c": conditions(PodScheduled="True", Ready="False")},
        {"c": conditions(Ready="True", New="True")},
        {"c": conditions(PodScheduled="True", Ready="True", New="True")},
    ),
    "other lists are replaced": (
        {"l": [{"name": "a"}]},
        {"l": [{"name": "b"}]},
        {"l": [{"name": "b"}]},
    ),
    "a list where there was none": (
        {},
        {"c": conditions(Ready="True")},
        {"c": conditions(Ready="True")},
    ),
    "an empty list empties": ({"c": conditions(Ready="True")}, {"c": []}, {"c": []}),
}


@pytest.mark.parametrize(("present", "changes", "want"), MERGES.values(), ids=MERGES.keys())
def test_a_status_is_merged(present: Tree, changes: Tree, want: Tree) -> None:
    assert merged(present, changes) == want

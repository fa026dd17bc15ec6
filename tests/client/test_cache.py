from collections.abc import Callable
from typing import Any, cast

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.client import Change, Client, Deliver
from windtunnel.client.cache import Cache
from windtunnel.machinery.tree import Key, encode


class Thing(msgspec.Struct):
    colour: str = ""


class Wire:
    """Where a watch would come from."""

    def __init__(self) -> None:
        self.deliver: Deliver = lambda change: None

    def watch(self, resource: str, deliver: Deliver, **_: Any) -> Callable[[], None]:
        self.deliver = deliver
        return lambda: None

    def send(self, type_: Any, name: str, colour: str = "") -> None:
        self.deliver(Change(type_, Key("ns", name), 1, encode({"colour": colour})))


def started() -> tuple[Wire, Cache[Thing]]:
    wire = Wire()
    cache: Cache[Thing] = Cache(
        cast(Client, wire),
        "things",
        Thing,
        indices={"colour": lambda key, thing: (thing.colour,) if thing.colour else ()},
    )
    cache.start()
    return wire, cache


def test_a_late_listener_hears_of_what_is_there_already() -> None:
    wire, cache = started()
    wire.send("ADDED", "a", "red")
    heard: list[tuple[str, bool, bool]] = []

    cache.on_change(lambda key, old, new: heard.append((key.name, old is None, new is None)))
    wire.send("MODIFIED", "a", "blue")
    wire.send("DELETED", "a", "blue")

    assert heard == [("a", True, False), ("a", False, False), ("a", False, True)]


def test_synced_is_told_once_and_at_once_afterwards() -> None:
    wire, cache = started()
    told: list[str] = []
    cache.when_synced(lambda: told.append("waited"))
    assert told == []

    wire.send("SYNCED", "")
    cache.when_synced(lambda: told.append("late"))

    assert told == ["waited", "late"]


def test_the_end_of_an_unknown_object_is_not_news() -> None:
    wire, cache = started()
    heard: list[Key] = []
    cache.on_change(lambda key, old, new: heard.append(key))

    wire.send("DELETED", "ghost")

    assert heard == []


moves = st.lists(
    st.tuples(
        st.sampled_from("abc"), st.sampled_from(["ADDED", "MODIFIED", "DELETED"]),
        st.sampled_from(["", "red", "blue"]),
    )
)  # fmt: skip


@given(moves)
def test_indices_always_agree_with_the_views(history: list[tuple[str, str, str]]) -> None:
    wire, cache = started()
    for name, type_, colour in history:
        wire.send(type_, name, colour)

    for colour in ("red", "blue"):
        want = {key for key, thing in cache.entries() if thing.colour == colour}
        assert {key for key, _ in cache.by("colour", colour)} == want
        assert cache.count("colour", colour) == len(want)

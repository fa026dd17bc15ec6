"""The roster: who the nodes are, and a copy that goes its own way."""

from __future__ import annotations

from tests.build import node

from windtunnel.fleet.roster import Roster

IMAGES = [{"names": ["i"], "sizeBytes": 7}]


def test_a_node_comes_changes_and_goes() -> None:
    made = Roster()
    assert made.put(node("a"))
    assert not made.put(node("a", images=IMAGES))
    assert made.facts["a"].images == (("i", 7),)
    assert made.images.of("i") == (7, {"a": 1})

    made.remove("a")

    assert (made.names(), dict(made.facts), made.images.of("i")) == ([], {}, (0, {}))


def test_a_copy_goes_its_own_way() -> None:
    made = Roster()
    made.put(node("a", images=IMAGES))
    other = made.copy()

    other.put(node("b"))
    other.remove("a")

    assert (made.names(), other.names()) == (["a"], ["b"])
    assert (made.images.of("i"), other.images.of("i")) == ((7, {"a": 1}), (0, {}))

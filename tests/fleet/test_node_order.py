"""The order of nodes: zones in turn."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from windtunnel.fleet.node_order import NodeOrder


def ordered(*pairs: tuple[str, str]) -> NodeOrder:
    order = NodeOrder()
    for name, zone in pairs:
        order.put(name, zone)
    return order


def test_zones_take_turns_and_short_ones_drop_out() -> None:
    order = ordered(("a1", "a"), ("a2", "a"), ("b1", "b"), ("a3", "a"), ("b2", "b"))

    assert order.names() == ["a1", "b1", "a2", "b2", "a3"]


def test_a_node_that_changes_zone_goes_to_the_end_of_it() -> None:
    order = ordered(("a1", "a"), ("b1", "b"), ("b2", "b"))

    came = order.put("a1", "b")

    assert not came
    assert order.names() == ["b1", "b2", "a1"]


def test_an_empty_zone_loses_its_place() -> None:
    order = ordered(("a1", "a"), ("b1", "b"))
    order.remove("a1")
    order.put("a2", "a")

    assert order.names() == ["b1", "a2"]


@given(st.lists(st.tuples(st.integers(0, 9).map(str), st.sampled_from("abc")), max_size=30))
def test_every_node_is_walked_once(puts: list[tuple[str, str]]) -> None:
    order = ordered(*puts)

    assert sorted(order.names()) == sorted({name for name, _ in puts})

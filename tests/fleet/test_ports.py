"""Host ports: which nodes are in the way of which wishes."""

from __future__ import annotations

import pytest

from windtunnel.fleet.ports import PortsInUse
from windtunnel.fleet.shape import HostPort

CASES = {
    "the same port": (("0.0.0.0", "TCP", 80), True),
    "another port": (("0.0.0.0", "TCP", 81), False),
    "another protocol": (("0.0.0.0", "UDP", 80), False),
    "an address against all addresses": (("10.0.0.9", "TCP", 80), True),
}


@pytest.mark.parametrize(("wanted", "taken"), CASES.values(), ids=CASES)
def test_a_wish_against_a_port_on_all_addresses(wanted: HostPort, taken: bool) -> None:
    ports = PortsInUse()
    ports.move("a", [("0.0.0.0", "TCP", 80)], 1)

    assert list(ports.nodes_in_conflict([wanted])) == (["a"] if taken else [])


def test_two_addresses_do_not_collide() -> None:
    ports = PortsInUse()
    ports.move("a", [("10.0.0.1", "TCP", 80)], 1)

    assert list(ports.nodes_in_conflict([("10.0.0.2", "TCP", 80)])) == []
    assert list(ports.nodes_in_conflict([("10.0.0.1", "TCP", 80)])) == ["a"]


def test_a_port_is_free_when_the_last_pod_leaves() -> None:
    ports = PortsInUse()
    wish = [("0.0.0.0", "TCP", 80)]
    for by in (1, 1, -1, -1):
        ports.move("a", wish, by)

    assert list(ports.nodes_in_conflict(wish)) == []

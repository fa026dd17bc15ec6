"""Sandboxes and their addresses."""

from __future__ import annotations

from windtunnel.nodes.kubelet.sandboxes import Sandboxes


def test_no_two_pods_have_one_address() -> None:
    sandboxes = Sandboxes("10.42.0.0/29")
    made = [sandboxes.make(str(number), 0.0, host_network=False) for number in range(6)]

    assert len({each.address for each in made}) == 6


def test_an_address_is_free_when_its_sandbox_has_stopped() -> None:
    sandboxes = Sandboxes("10.42.0.0/30")
    address = sandboxes.make("a", 0.0, host_network=False).address
    sandboxes.make("b", 0.0, host_network=False)
    sandboxes.stop("a")

    assert sandboxes.standing("a") is None
    assert sandboxes.make("c", 0.0, host_network=False).address == address


def test_a_sandbox_on_the_hosts_network_has_none_of_its_own() -> None:
    assert Sandboxes("10.42.0.0/30").make("a", 0.0, host_network=True).address == ""


def test_beginning_anew_keeps_the_address() -> None:
    sandboxes = Sandboxes("10.42.0.0/29")
    made = sandboxes.make("a", 1.0, host_network=False)
    sandboxes.begin_anew("a", 5.0)

    assert sandboxes.standing("a") is made
    assert made.created_at == 5.0


def test_what_is_forgotten_leaves_no_trace() -> None:
    sandboxes = Sandboxes("10.42.0.0/29")
    sandboxes.make("a", 0.0, host_network=False)
    sandboxes.forget("a")

    assert sandboxes.get("a") is None

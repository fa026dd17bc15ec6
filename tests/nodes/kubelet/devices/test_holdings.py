"""Who holds what, and for how long."""

from __future__ import annotations

from windtunnel.nodes.kubelet.devices.holdings import NO_NODE, HeldDevices, Holdings

R = "nvidia.com/gpu"


def holding(*ids: str) -> HeldDevices:
    return HeldDevices({NO_NODE: ids}, b"")


def test_what_is_held_is_found_by_container_resource_and_device() -> None:
    holdings = Holdings()
    holdings.put("u1", "c", R, holding("a", "b"))
    holdings.put("u2", "c", "other/x", holding("a"))

    assert holdings.one("u1", "c", R) == {"a", "b"}
    assert holdings.one("u1", "d", R) is None
    assert holdings.held(R) == {"a", "b"}
    assert holdings.resources() == {R, "other/x"}
    assert holdings.pods_with(["a"]) == {"u1", "u2"}


def test_only_pods_that_are_kept_keep_what_they_hold() -> None:
    holdings = Holdings()
    holdings.put("u1", "c", R, holding("a"))
    holdings.put("u2", "c", R, holding("b"))

    holdings.keep(["u2", "u3"])
    assert holdings.held(R) == {"b"}


def test_a_device_on_two_nodes_is_one_device() -> None:
    assert HeldDevices({0: ("a",), 1: ("a", "b")}, b"").ids == {"a", "b"}

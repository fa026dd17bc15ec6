"""What becomes of a resource's devices when plugins list, die, return or stay away."""

from __future__ import annotations

from windtunnel.nodes.kubelet.devices.inventory import Inventory, ListedDevice

R = "nvidia.com/gpu"


def listed(*healths: str) -> list[ListedDevice]:
    return [ListedDevice(f"d{n}", health) for n, health in enumerate(healths)]


def counts(inventory: Inventory, now: float = 0) -> tuple[int | None, int | None]:
    figures = inventory.figures(now)
    return figures.capacity.get(R), figures.allocatable.get(R)


def offering(*healths: str) -> Inventory:
    inventory = Inventory()
    inventory.connected(R)
    inventory.take_list(R, listed(*healths))
    return inventory


def test_a_plugin_without_a_list_changes_nothing() -> None:
    inventory = Inventory()
    inventory.connected(R)

    assert counts(inventory) == (None, None)
    assert not inventory.offers(R)


def test_any_other_health_is_ill_and_twins_count_once() -> None:
    inventory = offering("Healthy", "Unhealthy", "Sick")
    assert counts(inventory) == (3, 1)
    shown = [device.shown for device in inventory.listed(R).values()]
    assert shown == ["Healthy", "Unhealthy", "Unhealthy"]

    inventory.take_list(R, [ListedDevice("d0", "Healthy"), ListedDevice("d0", "Healthy")])
    assert counts(inventory) == (1, 1)


def test_a_dead_plugins_devices_count_for_five_minutes() -> None:
    inventory = offering("Healthy", "Healthy")
    inventory.stopped(R, 100)

    assert counts(inventory, 400) == (2, 0)
    assert inventory.offers(R)
    assert counts(inventory, 401) == (0, 0)
    assert not inventory.offers(R)
    assert inventory.expired(R, 401)


def test_a_plugin_that_returns_in_time_restores_its_devices() -> None:
    inventory = offering("Healthy")
    inventory.stopped(R, 0)
    inventory.connected(R)
    assert counts(inventory, 1000) == (1, 0)

    inventory.take_list(R, listed("Healthy"))
    assert counts(inventory, 1000) == (1, 1)


def test_a_resource_from_a_checkpoint_is_known_and_has_nothing() -> None:
    inventory = Inventory()
    inventory.restore([R], 0)

    assert counts(inventory) == (0, 0)
    assert inventory.offers(R)
    assert inventory.registered() == {R: []}


def test_an_empty_list_is_no_offer() -> None:
    inventory = offering()

    assert counts(inventory) == (0, 0)
    assert not inventory.offers(R)
    assert inventory.knows(R)


def test_health_that_changed_and_devices_that_are_new_are_told_not_those_that_vanish() -> None:
    inventory = offering("Healthy", "Healthy", "Healthy")

    assert inventory.take_list(R, listed("Healthy", "Unhealthy")) == {"d1"}
    assert inventory.take_list(R, listed("Healthy", "Unhealthy", "Healthy")) == {"d2"}


def test_a_resource_is_missing_until_its_plugin_comes_back() -> None:
    inventory = Inventory()
    inventory.restore([R, "a/b"], 0.0)
    inventory.connected("a/b")

    assert inventory.missing() == [R]

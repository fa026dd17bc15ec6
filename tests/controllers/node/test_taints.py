import msgspec
import pytest
from tests.world import World

from windtunnel import controllers
from windtunnel.controllers.node.taints import Zone, swap, unschedulable_keys
from windtunnel.controllers.node.views import NodeView, Taint
from windtunnel.machinery.tree import Key

SETTINGS = controllers.Settings()


def node(unschedulable: bool = False, **conditions: str) -> NodeView:
    listed = [{"type": type_, "status": status} for type_, status in conditions.items()]
    tree = {
        "metadata": {"name": "n"},
        "spec": {"unschedulable": unschedulable},
        "status": {"conditions": listed},
    }
    return msgspec.convert(tree, NodeView)


KEYS = {
    "all is well": (node(Ready="True", MemoryPressure="False"), []),
    "not ready": (node(Ready="False"), ["not-ready"]),
    "unknown": (node(Ready="Unknown"), ["unreachable"]),
    "under pressure": (
        node(Ready="True", DiskPressure="True", PIDPressure="True"),
        ["disk-pressure", "pid-pressure"],
    ),
    "cordoned": (node(True, Ready="True"), ["unschedulable"]),
    "pressure unknown": (node(Ready="True", MemoryPressure="Unknown"), []),
}


@pytest.mark.parametrize(("one", "want"), KEYS.values(), ids=KEYS.keys())
def test_a_state_calls_for_taints(one: NodeView, want: list[str]) -> None:
    assert unschedulable_keys(one) == [f"node.kubernetes.io/{key}" for key in want]


def test_only_our_own_taints_are_exchanged() -> None:
    mine = Taint(key="a", effect="NoSchedule")
    same_key = Taint(key="old", effect="NoExecute")
    old = Taint(key="old", effect="NoSchedule")
    taints = swap((mine, old, same_key), "NoSchedule", ["old", "new"], ["new"], 0.0)

    assert [(each.key, each.effect) for each in taints] == [
        ("a", "NoSchedule"),
        ("old", "NoExecute"),
        ("new", "NoSchedule"),
    ]
    assert taints[2].time_added == "1970-01-01T00:00:00Z"


ZONES = {
    "healthy": (Zone(10, 10), 0.1),
    "a few down": (Zone(10, 8), 0.1),
    "mostly down and small: stopped": (Zone(10, 4), 0.0),
    "mostly down and large: slowed": (Zone(100, 40), 0.01),
    "two of three down are not many": (Zone(3, 1), 0.1),
    "all down": (Zone(10, 0), 0.1),
}


@pytest.mark.parametrize(("zone", "rate"), ZONES.values(), ids=ZONES.keys())
def test_a_zone_slows_evictions(zone: Zone, rate: float) -> None:
    assert zone.rate(SETTINGS) == rate


def taints(world: World, name: str) -> set[tuple[str, str]]:
    listed = world.get("nodes", name, "")["spec"].get("taints", [])
    return {(each["key"].rpartition("/")[2], each["effect"]) for each in listed}


def fail(world: World, name: str, failing: bool) -> None:
    label = "true" if failing else None
    labels = {"node-not-ready.stage.kwok.x-k8s.io": label}
    world.client.patch("nodes", Key("", name), {"metadata": {"labels": labels}})
    world.run(3)


def test_a_failing_node_is_tainted_and_freed_when_it_recovers(world: World) -> None:
    world.node("n1")
    world.node("n2")
    assert taints(world, "n1") == set()

    fail(world, "n1", True)
    assert taints(world, "n1") == {("not-ready", "NoSchedule"), ("not-ready", "NoExecute")}

    fail(world, "n1", False)
    assert taints(world, "n1") == set()


def test_when_every_node_is_down_nothing_is_driven_away(world: World) -> None:
    world.node("n1")
    world.node("n2")
    fail(world, "n1", True)
    fail(world, "n2", True)

    assert taints(world, "n1") == {("not-ready", "NoSchedule")}
    assert taints(world, "n2") == {("not-ready", "NoSchedule")}


def test_nodes_are_tainted_one_after_another_at_the_rate(world: World) -> None:
    for number in range(5):
        world.node(f"n{number}")
    fail(world, "n0", True)
    fail(world, "n1", True)
    assert ("not-ready", "NoExecute") in taints(world, "n0")
    assert ("not-ready", "NoExecute") not in taints(world, "n1")

    world.run(10)

    assert ("not-ready", "NoExecute") in taints(world, "n1")

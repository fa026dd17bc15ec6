from typing import Any

import msgspec
import pytest
from tests.world import World

from windtunnel.controllers.node.eviction import decide
from windtunnel.controllers.node.views import Taint
from windtunnel.controllers.views import Toleration
from windtunnel.machinery.tree import Key, Tree

A, B = Taint(key="a", value="1", effect="NoExecute"), Taint(key="b", effect="NoExecute")


def tolerations(*trees: Tree) -> list[Toleration]:
    return [msgspec.convert(tree, Toleration) for tree in trees]


STAYS: dict[str, tuple[list[Taint], list[Toleration], float | None]] = {
    "tolerates nothing": ([A], [], 0.0),
    "tolerates one of two": ([A, B], tolerations({"key": "a", "operator": "Exists"}), 0.0),
    "tolerates for ever": ([A], tolerations({"key": "a", "value": "1"}), None),
    "another value": ([A], tolerations({"key": "a", "value": "2"}), 0.0),
    "tolerates everything": ([A, B], tolerations({"operator": "Exists"}), None),
    "another effect": ([A], tolerations({"operator": "Exists", "effect": "NoSchedule"}), 0.0),
    "for a while": ([A], tolerations({"operator": "Exists", "tolerationSeconds": 7}), 7.0),
    "the shorter while counts": (
        [A, B],
        tolerations(
            {"key": "a", "operator": "Exists", "tolerationSeconds": 7},
            {"key": "b", "operator": "Exists", "tolerationSeconds": 3},
        ),
        3.0,
    ),
    "a negative while is none": (
        [A], tolerations({"key": "a", "operator": "Exists", "tolerationSeconds": -1}), 0.0
    ),
}  # fmt: skip


@pytest.mark.parametrize(("taints", "tolerated", "want"), STAYS.values(), ids=STAYS.keys())
def test_how_long_a_pod_may_stay(
    taints: list[Taint], tolerated: list[Toleration], want: float | None
) -> None:
    assert decide(taints, tolerated) == want


def pod(world: World, name: str, *tolerated: dict[str, Any]) -> None:
    spec = {
        "nodeName": "n1",
        "containers": [{"name": "c", "image": "i"}],
        "tolerations": list(tolerated),
    }
    world.create("pods", name, spec=spec)
    world.run(0.1)


def taint(world: World, *taints: dict[str, str]) -> None:
    world.client.patch("nodes", Key("", "n1"), {"spec": {"taints": list(taints) or None}})
    world.run(0.1)


SICK = {"key": "sick", "effect": "NoExecute"}


def test_pods_leave_at_once_later_or_never(world: World) -> None:
    world.node("n1")
    pod(world, "now")
    pod(world, "later", {"key": "sick", "operator": "Exists", "tolerationSeconds": 30})
    pod(world, "never", {"key": "sick", "operator": "Exists"})
    taint(world, SICK)
    assert world.names("pods") == ["later", "never"]
    assert ("TaintManagerEviction", "Marking for deletion Pod default/now") in world.events()

    world.run(31)

    assert world.names("pods") == ["never"]


def test_a_taint_that_goes_in_time_cancels_the_deletion(world: World) -> None:
    world.node("n1")
    pod(world, "p", {"key": "sick", "operator": "Exists", "tolerationSeconds": 30})
    taint(world, SICK)
    world.run(10)
    taint(world)
    world.run(60)

    assert world.names("pods") == ["p"]
    assert ("TaintManagerEviction", "Cancelling deletion of Pod default/p") in world.events()


def test_a_further_taint_makes_the_time_no_longer(world: World) -> None:
    world.node("n1")
    pod(world, "p", {"operator": "Exists", "tolerationSeconds": 30})
    taint(world, SICK)
    world.run(20)
    taint(world, SICK, {"key": "worse", "effect": "NoExecute"})
    world.run(11)

    assert world.names("pods") == []

from tests.world import World

from windtunnel.machinery.timestamp import parse_time
from windtunnel.machinery.tree import Key, Tree
from windtunnel.nodes.played.leases import Leases

RESOURCE = "leases.coordination.k8s.io"
PLACE = "kube-node-lease"


def lease(world: World, name: str) -> Tree:
    return world.get(RESOURCE, name, PLACE)


def test_a_lease_belongs_to_its_node_and_is_renewed_in_time(world: World) -> None:
    world.node("n1")
    node = world.get("nodes", "n1", "")
    (owner,) = lease(world, "n1")["metadata"]["ownerReferences"]
    assert owner == {
        "apiVersion": "v1",
        "kind": "Node",
        "name": "n1",
        "uid": node["metadata"]["uid"],
    }
    assert lease(world, "n1")["spec"]["leaseDurationSeconds"] == 40

    for _ in range(20):
        world.run(7)
        age = world.clock.now() - parse_time(lease(world, "n1")["spec"]["renewTime"])
        assert age < 12


def test_renewals_are_spread_evenly(world: World) -> None:
    for number in range(80):
        world.node(f"n{number}")
    world.run(10)
    times: list[float] = []
    world.core.store.subscribe(RESOURCE, lambda _: times.append(world.clock.now()))
    world.run(10)

    assert 70 <= len(times) <= 90
    assert max(times.count(each) for each in times) <= 4


def test_a_lease_that_vanished_is_made_again(world: World) -> None:
    world.node("n1")
    world.client.delete(RESOURCE, Key(PLACE, "n1"))
    world.run(12)

    assert lease(world, "n1")["spec"]["holderIdentity"] == "windtunnel"


def held_by_another(world: World, duration: int) -> None:
    spec = {
        "holderIdentity": "another",
        "leaseDurationSeconds": duration,
        "renewTime": "2027-01-15T08:00:00.000000Z",
    }
    world.create(RESOURCE, "n1", PLACE, spec=spec)


def test_a_living_holder_is_respected_until_its_lease_runs_out(world: World) -> None:
    held_by_another(world, 30)
    world.create("nodes", "n1", "", metadata={"annotations": {"kwok.x-k8s.io/node": "fake"}})
    world.run(20)
    assert not world.nodes.plays("n1")
    assert lease(world, "n1")["spec"]["holderIdentity"] == "another"

    world.run(20)

    assert world.nodes.plays("n1")
    assert lease(world, "n1")["spec"]["leaseTransitions"] == 1


def test_a_node_that_is_left_is_renewed_no_more(world: World) -> None:
    won: list[str] = []
    leases = Leases(world.client, world.loop, "me", 40, won.append)
    node = world.create("nodes", "n9", "")
    leases.keep("n9", node["metadata"]["uid"])
    world.run(1)
    assert won == ["n9"]

    leases.leave("n9")
    before = lease(world, "n9")["spec"]["renewTime"]
    world.run(60)

    assert lease(world, "n9")["spec"]["renewTime"] == before
    assert "n9" not in leases


def test_a_lease_of_no_time_does_not_stop_the_world(world: World) -> None:
    leases = Leases(world.client, world.loop, "me", 0, lambda name: None)
    leases.keep("n1", world.create("nodes", "n1", "")["metadata"]["uid"])
    world.run(3)

    assert lease(world, "n1")["spec"]["leaseDurationSeconds"] == 1

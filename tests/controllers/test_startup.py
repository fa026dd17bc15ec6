from tests.world import World

from windtunnel import controllers
from windtunnel.apiserver.inprocess import LocalClient


def test_no_two_controllers_share_a_name(world: World) -> None:
    names = list(world.controllers.workers)

    assert len(names) == len(set(names)) == 25


def test_controllers_can_be_left_out_or_picked(world: World) -> None:
    client = LocalClient(world.core, "tests", "tests")

    picked = controllers.Controllers(client, world.loop, only={"job-controller"})
    left_out = controllers.Controllers(client, world.loop, without={"job-controller"})
    picked.start()
    left_out.start()

    assert list(picked.workers) == ["job-controller"]
    assert "job-controller" not in left_out.workers
    assert "deployment-controller" in left_out.workers


def test_stopped_controllers_hear_nothing_more(world: World) -> None:
    world.controllers.stop()
    world.create("namespaces", "x", "")
    world.run(1)

    assert world.names("serviceaccounts", "x") == []


def test_an_idle_cluster_is_at_rest(world: World) -> None:
    world.run(10)
    before = world.core.store.revision
    world.run(300)

    assert world.core.store.revision == before
    assert world.failures == []

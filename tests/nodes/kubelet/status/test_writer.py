"""Writing pod statuses."""

from __future__ import annotations

from typing import Any

from tests.world import World

from windtunnel.errors import ClusterError
from windtunnel.machinery.tree import Key, Tree
from windtunnel.nodes.kubelet.status.writer import StatusWriter


class Faltering:
    """A client whose server is away for a while."""

    def __init__(self, world: World) -> None:
        self.client, self.away, self.asked = world.client, True, 0

    def patch(self, *given: Any, **named: Any) -> Tree:
        self.asked += 1
        if self.away:
            raise ClusterError("away")
        return self.client.patch(*given, **named)


def pod(world: World) -> Tree:
    return world.create("pods", "p", spec={"containers": [{"name": "c", "image": "i"}]})


def test_the_newest_status_is_written_when_the_server_is_back() -> None:
    world = World()
    tree, faltering, seen = pod(world), Faltering(world), []
    writer = StatusWriter(faltering, world.loop, seen.append)  # type: ignore[arg-type]
    writer.write(tree, {"phase": "Pending", "hostIP": "1"})
    writer.write(tree, {"phase": "Running", "hostIP": "2"})
    faltering.away = False
    world.run(5)

    assert world.get("pods", "p")["status"]["hostIP"] == "2"
    assert len(seen) == 1


def test_a_pod_of_the_same_name_is_not_written_to() -> None:
    world = World()
    old = pod(world)
    world.client.delete("pods", Key("default", "p"), grace_seconds=0)
    pod(world)
    StatusWriter(world.client, world.loop, lambda tree: None).write(old, {"hostIP": "1"})

    assert "hostIP" not in world.get("pods", "p")["status"]

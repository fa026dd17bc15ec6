from tests.world import World

from windtunnel.controllers.sources import Sources
from windtunnel.machinery.tree import Key

SPEC = {"containers": [{"name": "c", "image": "i"}]}


def test_pods_are_found_by_what_controllers_ask_for(world: World) -> None:
    world.controllers.stop()
    sources = Sources(world.client)
    told: list[bool] = []
    sources.start(lambda: told.append(True))
    owner = {"apiVersion": "v1", "kind": "X", "name": "x", "uid": "x-uid", "controller": True}
    world.create(
        "pods", "owned", spec={**SPEC, "nodeName": "n1"}, metadata={"ownerReferences": [owner]}
    )
    world.create("pods", "stray", spec=SPEC, metadata={"finalizers": ["example.com/hold"]})

    def found(index: str, value: str) -> list[str]:
        return [key.name for key, _ in sources.pods.by(index, value)]

    assert told == [True]
    assert found("owner", "x-uid") == found("node", "n1") == ["owned"]
    assert found("orphans", "default") == ["stray"]
    assert found("namespace", "default") == ["owned", "stray"]

    world.client.delete("pods", Key("default", "stray"))
    world.status("owned", {"phase": "Succeeded"})

    assert found("state", "deleting") == ["stray"]
    assert found("state", "finished") == ["owned"]


def test_stopped_sources_stay_as_they_are(world: World) -> None:
    sources = Sources(world.client)
    sources.start(lambda: None)
    sources.stop()
    world.create("nodes", "n1", "")

    assert len(sources.nodes) == 0

from tests.world import World

from windtunnel.controllers.revisions import template_in
from windtunnel.machinery.tree import Key, Tree

SETS = "statefulsets.apps"
REVISIONS = "controllerrevisions.apps"


def make(world: World, image: str = "app:1") -> Tree:
    template = {
        "metadata": {"labels": {"app": "a"}},
        "spec": {"containers": [{"name": "c", "image": image}]},
    }
    return {"replicas": 1, "selector": {"matchLabels": {"app": "a"}}, "template": template}


def test_a_revision_is_a_patch_that_puts_its_template_back(world: World) -> None:
    world.create(SETS, "db", spec=make(world), metadata={"annotations": {"why": "x"}})
    world.run(0.1)

    (name,) = world.names(REVISIONS)
    revision = world.get(REVISIONS, name)
    digest = revision["metadata"]["labels"]["controller.kubernetes.io/hash"]
    assert name == f"db-{digest}"
    assert revision["metadata"]["annotations"] == {"why": "x"}
    assert revision["data"]["spec"]["template"]["$patch"] == "replace"
    view = next(view for _, view in world.controllers.sources.revisions.entries())
    assert template_in(view)["spec"]["containers"][0]["image"] == "app:1"


def test_a_name_that_is_taken_gives_way_to_another_hash(world: World) -> None:
    world.create(SETS, "db", spec=make(world))
    world.run(0.1)
    (name,) = world.names(REVISIONS)
    world.client.delete(SETS, Key("default", "db"))
    world.run(1)
    world.create(REVISIONS, name, data={"a": 1}, revision=1)

    world.create(SETS, "db", spec=make(world))
    world.run(0.1)

    assert len(world.names(REVISIONS)) == 2
    assert world.get(SETS, "db")["status"]["collisionCount"] == 1


def test_an_orphan_that_matches_is_taken_over(world: World) -> None:
    world.create(SETS, "db", spec=make(world))
    world.run(0.1)
    (name,) = world.names(REVISIONS)
    key = Key("default", name)
    world.client.patch(REVISIONS, key, {"metadata": {"ownerReferences": None}})
    world.client.patch(SETS, Key("default", "db"), {"metadata": {"labels": {"a": "b"}}})
    world.run(0.1)

    assert world.names(REVISIONS) == [name]
    assert world.get(REVISIONS, name)["metadata"]["ownerReferences"][0]["name"] == "db"

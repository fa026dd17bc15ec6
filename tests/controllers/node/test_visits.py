from tests.world import World

from windtunnel.controllers.node.visits import visit_nodes
from windtunnel.kernel import WorkQueue
from windtunnel.machinery.tree import Key


def test_each_node_is_visited_as_it_changes_and_all_when_all_are_concerned(world: World) -> None:
    world.node("a")
    world.node("b")
    queue: WorkQueue[Key] = WorkQueue(world.loop, lambda: None)
    visit_nodes(
        world.controllers.sources.nodes,
        queue,
        lambda before, after: after is not None and "alarm" in after.metadata.labels,
    )
    assert queue.take(9) == [Key("", "a"), Key("", "b")]

    world.client.patch("nodes", Key("", "b"), {"metadata": {"labels": {"x": "y"}}})
    assert queue.take(9) == [Key("", "b")]
    world.client.patch("nodes", Key("", "b"), {"metadata": {"labels": {"alarm": "y"}}})
    assert queue.take(9) == [Key("", "b"), Key("", "a")]

    world.client.delete("nodes", Key("", "a"))
    assert Key("", "a") not in queue

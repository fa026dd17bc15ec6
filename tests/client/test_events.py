from tests.world import World

from windtunnel.client.events import Recorder, Subject
from windtunnel.machinery.tree import Tree

POD = Subject("Pod", "p", "default", "uid-1")


def recorded(world: World) -> list[tuple[str, int]]:
    world.run(0.1)
    events: list[Tree] = world.client.list("events")
    events.sort(key=lambda event: event["metadata"]["name"])
    return [(event["message"], event["count"]) for event in events]


def recorder(world: World) -> Recorder:
    return Recorder(world.client, world.loop, "tests")


def test_the_same_event_again_is_counted(world: World) -> None:
    events = recorder(world)
    for _ in range(3):
        events.warning(POD, "Failed", "no")

    assert recorded(world) == [("no", 3)]


def test_from_the_tenth_message_of_a_sort_on_they_become_one(world: World) -> None:
    events = recorder(world)
    for number in range(15):
        events.normal(POD, "Created", f"pod {number:02d}")

    assert recorded(world) == [
        *((f"pod {number:02d}", 1) for number in range(9)),
        ("(combined from similar events): pod 14", 6),
    ]


def test_a_flood_about_one_object_is_cut_off(world: World) -> None:
    events = recorder(world)
    for number in range(60):
        events.normal(POD, f"Reason{number}", "x")
    events.normal(Subject("Pod", "other", "default", "uid-2"), "Fine", "y")
    assert len(recorded(world)) == 25 + 1

    world.run(301)
    events.normal(POD, "Later", "z")

    assert len(recorded(world)) == 25 + 2


def test_an_event_about_a_node_lives_in_default_and_names_its_source(world: World) -> None:
    recorder(world).normal(Subject("Node", "n1", "", "uid-n"), "Hello", "x")
    world.run(0.1)
    (event,) = world.client.list("events", "default")

    assert event["involvedObject"] == {
        "kind": "Node",
        "name": "n1",
        "uid": "uid-n",
        "apiVersion": "v1",
    }
    assert event["source"] == {"component": "tests"}


def test_a_refused_event_is_dropped(world: World) -> None:
    recorder(world).normal(Subject("Pod", "p", "nowhere", "u"), "Hello", "x")

    assert recorded(world) == []

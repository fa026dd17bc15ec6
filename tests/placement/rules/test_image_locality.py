"""Images: bytes, scaled by how common they are."""

from __future__ import annotations

from typing import Any

import pytest
from tests.build import fleet, node, pod
from tests.placement.rules.judging import ratings

from windtunnel.placement.rules.image_locality import ImageLocality

MIB = 1024 * 1024


def image(name: str, mib: int) -> list[dict[str, Any]]:
    return [{"names": [name], "sizeBytes": mib * MIB}]


CASES = {
    "nobody has it": ([], [], [0, 0]),
    "one has it": (image("x:1", 1000), [], [48, 0]),
    "both have it": (image("x:1", 1000), image("x:1", 1000), [100, 100]),
    "too small to stay for": (image("x:1", 20), image("x:1", 20), [0, 0]),
    "another tag is another image": (image("x:2", 1000), [], [0, 0]),
}


@pytest.mark.parametrize(("first", "second", "want"), CASES.values(), ids=CASES)
def test_rate(first: list[Any], second: list[Any], want: list[int]) -> None:
    made = fleet(node("a", images=first), node("b", images=second))
    one = pod(containers=[{"name": "main", "image": "x:1"}])

    assert ratings(ImageLocality(), one, made) == want


def test_a_pod_of_more_containers_needs_more_bytes_for_the_same_score() -> None:
    made = fleet(node("a", images=image("x:1", 1000)))
    containers = [{"name": "m", "image": "x:1"}, {"name": "n", "image": "y:1"}]

    assert ratings(ImageLocality(), pod(containers=containers), made) == [49]


def test_what_other_nodes_pull_is_noticed_when_the_node_itself_changes() -> None:
    many = node("a", images=image("x:1", 1000))
    made = fleet(many, node("b"))
    one = pod(containers=[{"name": "main", "image": "x:1"}])
    made.recount_images()
    made.put_node(node("b", images=image("x:1", 1000)))
    made.recount_images()

    assert ratings(ImageLocality(), one, made) == [48, 100]

    before = made.mark()
    made.put_node(many)  # a heartbeat is enough
    made.recount_images()

    assert ratings(ImageLocality(), one, made) == [100, 100]
    assert made.touched_since(before) is None

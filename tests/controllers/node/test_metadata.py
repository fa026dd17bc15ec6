import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.world import World

from windtunnel.controllers.node.metadata import mirrored_labels, ttl_after


@pytest.mark.parametrize(
    ("present", "nodes", "want"),
    [
        (0, 99, 0),
        (0, 100, 15),
        (15, 95, 15),
        (15, 89, 0),
        (0, 5000, 300),
        (300, 1900, 300),
        (300, 1700, 60),
    ],
)
def test_the_time_to_live_rises_later_than_it_falls(present: int, nodes: int, want: int) -> None:
    assert ttl_after(present, nodes) == want


@given(present=st.sampled_from([0, 15, 30, 60, 300]), nodes=st.integers(0, 4000))
def test_the_time_to_live_settles_in_one_move(present: int, nodes: int) -> None:
    settled = ttl_after(present, nodes)

    assert ttl_after(settled, nodes) == settled


def test_only_what_differs_is_mirrored() -> None:
    labels = {
        "kubernetes.io/os": "linux",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "arm64",
    }

    assert mirrored_labels(labels) == {"beta.kubernetes.io/arch": "arm64"}


def test_every_node_is_annotated(world: World) -> None:
    world.node("n1", labels={"kubernetes.io/os": "linux"})
    metadata = world.get("nodes", "n1", "")["metadata"]

    assert metadata["annotations"]["node.alpha.kubernetes.io/ttl"] == "0"
    assert metadata["labels"]["beta.kubernetes.io/os"] == "linux"

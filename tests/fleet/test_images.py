"""Images on nodes."""

from __future__ import annotations

from tests.build import node

from windtunnel.fleet.images import Images


def test_the_first_node_says_how_large_an_image_is() -> None:
    images = Images()
    first, second = (
        node(n, images=[{"names": ["img:1"], "sizeBytes": s}]) for n, s in (("a", 5), ("b", 7))
    )
    images.put(first, None)
    images.put(second, None)

    assert images.of("img:1") == (5, ("a", "b"))


def test_an_image_is_forgotten_with_its_last_node() -> None:
    images = Images()
    had = node("a", images=[{"names": ["img:1"], "sizeBytes": 5}])
    images.put(had, None)
    images.put(node("a"), had)

    assert images.of("img:1") == (0, ())

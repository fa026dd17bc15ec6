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

    assert images.of("img:1") == (5, {"a": 2, "b": 2})


def test_an_image_is_forgotten_with_its_last_node() -> None:
    images = Images()
    had = node("a", images=[{"names": ["img:1"], "sizeBytes": 5}])
    images.put(had, None)
    images.put(node("a"), had)

    assert images.of("img:1") == (0, {})


def test_a_node_goes_by_its_old_count_until_something_happens_there() -> None:
    images = Images()
    for name in ("a", "b", "c"):
        images.put(node(name, images=[{"names": ["img:1"], "sizeBytes": 5}]), None)
        if name == "a":
            assert images.recount()

    assert images.of("img:1")[1] == {"a": 1, "b": 3, "c": 3}

    assert images.recount()
    images.touch("a")
    images.touch("nobody has heard of it")

    assert images.of("img:1")[1] == {"a": 3, "b": 3, "c": 3}
    assert images.recount()
    assert not images.recount()

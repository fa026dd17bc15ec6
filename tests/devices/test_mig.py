"""Tests of MIG slices."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.devices import geometry_of, gpu_instance_id, slice_id

A100 = "NVIDIA-A100-SXM4-80GB"

PLACED = {
    "three small ones and a tiny one": (
        {"2g.20gb": 3, "1g.10gb": 1},
        [("2g.20gb", 0), ("2g.20gb", 2), ("2g.20gb", 4), ("1g.10gb", 6)],
    ),
    "two halves": ({"4g.40gb": 1, "3g.40gb": 1}, [("4g.40gb", 0), ("3g.40gb", 4)]),
    "the order does not matter": (
        {"1g.10gb": 1, "2g.20gb": 1, "3g.40gb": 1},
        [("3g.40gb", 0), ("2g.20gb", 4), ("1g.10gb", 6)],
    ),
    "none": ({}, []),
    "the whole": ({"7g.80gb": 1}, [("7g.80gb", 0)]),
}


@pytest.mark.parametrize(("wishes", "want"), PLACED.values(), ids=PLACED)
def test_slices_are_placed(wishes: dict[str, int], want: list[tuple[str, int]]) -> None:
    placed = geometry_of(A100).place(wishes)

    assert [(profile.name, start) for profile, start in placed] == want


REFUSED = {
    "an unknown slice": ({"1g.5gb": 1}, "has no MIG profile 1g.5gb; it has 1g.10gb, 1g.10gb"),
    "too many": ({"2g.20gb": 4}, "4 x 2g.20gb do not fit into one"),
    "too much memory": ({"3g.40gb": 2, "1g.10gb": 1}, "do not fit into one"),
    "media engines twice": ({"1g.10gb+me": 2}, "do not fit into one"),
    "an endless number": ({"1g.10gb": 10**9}, "do not fit into one"),
    "fewer than none": ({"1g.10gb": -1}, "below 0"),
}


@pytest.mark.parametrize(("wishes", "words"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused_in_words(wishes: dict[str, int], words: str) -> None:
    with pytest.raises(ValueError, match=words.replace("+", r"\+")):
        geometry_of(A100).place(wishes)


@given(
    product=st.sampled_from([A100, "NVIDIA-A30", "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition"]),
    choices=st.lists(st.integers(min_value=0, max_value=20), max_size=7),
)
def test_what_is_placed_holds_and_is_what_was_asked_for(product: str, choices: list[int]) -> None:
    geometry = geometry_of(product)
    names = list(geometry.profiles)
    wishes = Counter(names[choice % len(names)] for choice in choices)
    try:
        placed = geometry.place(wishes)
    except ValueError:
        return

    assert geometry.holds(placed)
    assert Counter(profile.name for profile, _ in placed) == wishes


@pytest.mark.parametrize(
    ("product", "name", "start", "want"),
    [
        (A100, "1g.10gb", 0, 7),
        (A100, "1g.10gb", 6, 13),
        (A100, "2g.20gb", 4, 5),
        (A100, "3g.40gb", 4, 2),
        (A100, "7g.80gb", 0, 0),
        ("NVIDIA-A30", "1g.6gb", 3, 6),
        ("NVIDIA-A30", "2g.12gb", 2, 2),
        ("NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", "1g.24gb", 9, 6),
    ],
)
def test_instances_are_numbered_like_a_heap(product: str, name: str, start: int, want: int) -> None:
    geometry = geometry_of(product)

    assert gpu_instance_id(geometry, geometry.profile(name), start) == want


def test_names_of_slices_for_kubernetes_hold_no_plus() -> None:
    profile = geometry_of(A100).profile("1g.10gb.me")

    assert (profile.name, profile.resource) == ("1g.10gb+me", "nvidia.com/mig-1g.10gb.me")


def test_a_slice_keeps_its_id_for_ever() -> None:
    assert slice_id("n", 0, 2, "2g.20gb") == slice_id("n", 0, 2, "2g.20gb")
    assert slice_id("n", 0, 2, "2g.20gb") != slice_id("n", 1, 2, "2g.20gb")

"""Where a request could be met."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from windtunnel.nodes.kubelet.devices.hints import Hint, device_hints, mask_of, subsets
from windtunnel.nodes.kubelet.devices.inventory import ListedDevice


def listed(*nodes: tuple[int, ...]) -> dict[str, ListedDevice]:
    return {f"d{n}": ListedDevice(f"d{n}", "Healthy", place) for n, place in enumerate(nodes)}


EIGHT = listed(*[(0,)] * 4, *[(1,)] * 4)


def test_devices_without_nodes_have_no_opinion() -> None:
    assert device_hints(listed((), ()), ["d0"], (), 1, 0b11) is None


def test_too_few_free_devices_cannot_be() -> None:
    assert device_hints(EIGHT, ["d0"], (), 2, 0b11) == []


def test_the_smallest_set_that_could_ever_do_is_preferred() -> None:
    free = ["d1", "d2", "d3", "d5", "d6", "d7"]

    assert device_hints(EIGHT, free, (), 3, 0b11) == [
        Hint(0b01, True),
        Hint(0b10, True),
        Hint(0b11, False),
    ]
    assert device_hints(EIGHT, free, (), 4, 0b11) == [Hint(0b11, False)]
    assert device_hints(EIGHT, EIGHT, (), 5, 0b11) == [Hint(0b11, True)]


def test_inherited_devices_must_be_covered() -> None:
    assert device_hints(EIGHT, ["d5"], ["d0"], 1, 0b11) == [
        Hint(0b01, True),
        Hint(0b11, False),
    ]


def test_a_device_on_two_nodes_counts_for_both() -> None:
    assert device_hints(listed((0, 1)), ["d0"], (), 1, 0b11) == [
        Hint(0b01, True),
        Hint(0b10, True),
        Hint(0b11, False),
    ]


@given(
    nodes=st.lists(st.sets(st.integers(0, 2)).map(tuple), min_size=1, max_size=6),
    free=st.sets(st.integers(0, 5)),
    count=st.integers(1, 6),
)
def test_a_hint_holds_what_it_promises(
    nodes: list[tuple[int, ...]], free: set[int], count: int
) -> None:
    devices = listed(*nodes)
    available = [f"d{n}" for n in free if n < len(nodes)]

    for hint in device_hints(devices, available, (), count, 0b111) or ():
        assert hint.mask is not None
        within = [one for one in available if mask_of(devices[one].nodes) & hint.mask]
        assert len(within) >= count
        smaller = [mask for mask in subsets(0b111) if mask.bit_count() < hint.mask.bit_count()]
        could = any(
            sum(bool(mask_of(one.nodes) & mask) for one in devices.values()) >= count
            for mask in smaller
        )
        assert hint.preferred == (not could)

"""Which devices a container gets."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.nodes.kubelet.devices.inventory import ListedDevice
from windtunnel.nodes.kubelet.devices.selection import (
    DeviceRequest,
    Question,
    Unavailable,
    begin,
    complete,
)

R = "nvidia.com/gpu"
NONE: frozenset[str] = frozenset()


def want(count: int, healthy: str = "", **more: object) -> DeviceRequest:
    request = DeviceRequest(
        pod_uid="u",
        container="c",
        resource=R,
        required=count,
        held=None,
        reusable=NONE,
        healthy=frozenset(healthy),
        in_use=NONE,
        registered=True,
    )
    return replace(request, **more)  # type: ignore[arg-type]


def listed(**nodes: tuple[int, ...]) -> dict[str, ListedDevice]:
    return {name: ListedDevice(name, "Healthy", place) for name, place in nodes.items()}


REFUSED = {
    "never registered": (
        want(1, registered=False),
        "cannot allocate unregistered device nvidia.com/gpu",
    ),
    "none healthy": (
        want(1),
        "no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu",
    ),
    "held ones fell ill": (
        want(1, "b", held=frozenset("a")),
        "previously allocated devices are no longer healthy; "
        "cannot allocate unhealthy devices nvidia.com/gpu",
    ),
    "too few": (
        want(3, "abc", in_use=frozenset("a")),
        "requested number of devices unavailable for nvidia.com/gpu. Requested: 3, Available: 2",
    ),
    "too few beyond inherited ones": (
        want(3, "abc", in_use=frozenset("ab"), reusable=frozenset("a")),
        "requested number of devices unavailable for nvidia.com/gpu. Requested: 2, Available: 1",
    ),
    "another request than before": (
        want(2, "ab", held=frozenset("a")),
        'pod "u" container "c" changed request for resource "nvidia.com/gpu" from 1 to 2',
    ),
}


@pytest.mark.parametrize(("request_", "words"), REFUSED.values(), ids=REFUSED)
def test_refusals_have_the_kubelets_words(request_: DeviceRequest, words: str) -> None:
    with pytest.raises(Unavailable) as refusal:
        begin(request_, {}, None)

    assert str(refusal.value) == words


def test_who_holds_enough_gets_nothing_more() -> None:
    assert complete(begin(want(1, "ab", held=frozenset("a")), {}, None), NONE) == ()


def test_who_runs_already_is_left_alone_whatever_has_become_of_its_devices() -> None:
    assert complete(begin(want(1, running=True), {}, None), NONE) == ()


def test_inherited_devices_come_first_and_must_be_in_what_is_preferred() -> None:
    selection = begin(want(2, "abc", reusable=frozenset("c"), in_use=frozenset("c")), {}, None)

    assert selection.question == Question(frozenset("abc"), frozenset("c"), 2)
    assert complete(selection, frozenset("bc")) == ("c", "b")


def test_wrong_preferences_are_ignored_and_short_ones_filled_up() -> None:
    selection = begin(want(2, "abc"), {}, None)

    assert complete(selection, frozenset({"zzz", "c"})) == ("c", "a")
    assert complete(selection, frozenset("abc")) == ("a", "b")


def test_the_plugin_may_choose_among_aligned_devices_only_when_there_are_more_than_needed() -> None:
    places = listed(a=(0,), b=(0,), c=(1,), d=())

    more = begin(want(1, "abcd"), places, 0b01)
    assert more.question == Question(frozenset("ab"), NONE, 1)
    assert complete(more, frozenset("c")) == ("a",)

    just_enough = begin(want(2, "abcd"), places, 0b01)
    assert just_enough.question is None
    assert complete(just_enough, NONE) == ("a", "b")

    too_few = begin(want(3, "abcd"), places, 0b01)
    assert too_few.question == Question(frozenset("abcd"), frozenset("ab"), 3)
    assert complete(too_few, NONE) == ("a", "b", "c")


devices = st.sets(st.sampled_from("abcdefgh"))


@given(
    healthy=devices,
    in_use=devices,
    reusable=devices,
    preferred=devices,
    nodes=st.dictionaries(st.sampled_from("abcdefgh"), st.sets(st.integers(0, 1)).map(tuple)),
    mask=st.none() | st.integers(1, 3),
    count=st.integers(0, 8),
)
def test_nobody_gets_a_device_twice_or_one_that_is_not_to_be_had(
    healthy: set[str],
    in_use: set[str],
    reusable: set[str],
    preferred: set[str],
    nodes: dict[str, tuple[int, ...]],
    mask: int | None,
    count: int,
) -> None:
    request = want(count, "".join(healthy), in_use=frozenset(in_use), reusable=frozenset(reusable))
    try:
        selection = begin(request, listed(**nodes), mask)
    except Unavailable:
        return

    given_ = complete(selection, frozenset(preferred))

    assert len(given_) == len(set(given_)) == count
    assert set(given_) <= reusable | (healthy - in_use)

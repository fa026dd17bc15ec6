from itertools import count

import pytest
from tests.devices.cut import cut_node, slicing

from windtunnel.devices import NodeTopology, OtherDevice, TopologyGpu
from windtunnel.gpu.device_plugin.offers import (
    Device,
    DeviceList,
    counted_id,
    offers,
    preferred,
    socket_name,
    unshared,
)

TWO = NodeTopology(
    gpus=(TopologyGpu(id="GPU-1"), TopologyGpu(id="GPU-2", fault="XID 79")),
    other_devices=(OtherDevice("nvidia.com/mig-1g.5gb", 1), OtherDevice("example.com/nic", 0)),
)


def test_gpus_are_offered_under_their_own_ids_and_health() -> None:
    gpus, mig, nic = offers(TWO, "n1")

    assert gpus == DeviceList(
        "nvidia.com/gpu",
        "fake-nvidia-gpu.sock",
        (Device("GPU-1"), Device("GPU-2", healthy=False)),
    )
    assert mig.devices == (Device(counted_id("n1", "nvidia.com/mig-1g.5gb", 0)),)
    assert nic == DeviceList("example.com/nic", "example_com_nic.sock", ())


def test_a_node_without_gpus_offers_none_of_them() -> None:
    assert offers(NodeTopology(), "n1") == (
        DeviceList("nvidia.com/gpu", "fake-nvidia-gpu.sock", ()),
    )


def test_ids_stay_the_same_unless_they_are_drawn() -> None:
    numbers = count()

    assert offers(TWO, "n1") == offers(TWO, "n1")
    assert offers(TWO, "n1")[1] != offers(TWO, "n2")[1]
    drawn = offers(TWO, "n1", lambda: f"id-{next(numbers)}")
    assert [device.id for offer in drawn for device in offer.devices] == ["id-0", "id-1", "id-2"]


@pytest.mark.parametrize(
    ("resource", "socket"),
    [
        ("nvidia.com/mig-1g.5gb", "nvidia_com_mig_1g_5gb.sock"),
        ("example.com/a_b", "example_com_a_b.sock"),
    ],
)
def test_names_of_sockets(resource: str, socket: str) -> None:
    assert socket_name(resource) == socket


def test_shares_are_numbered_and_stand_for_their_gpu() -> None:
    (gpus,) = offers(cut_node(None, None, sharing=slicing(2)), "n")
    first, second = (gpu.id for gpu in cut_node(None, None).gpus)

    ids = [device.id for device in gpus.devices]
    assert ids == [f"{first}::0", f"{first}::1", f"{second}::0", f"{second}::1"]
    assert unshared(ids) == [first, second]
    assert gpus.refusal(2) == ""


def test_slices_are_offered_by_profile_on_sockets_of_their_own() -> None:
    topology = cut_node({"2g.20gb": 2}, None)
    whole, slices = offers(topology, "n")

    assert [device.id for device in whole.devices] == [topology.gpus[1].id]
    assert (slices.resource, slices.socket) == (
        "nvidia.com/mig-2g.20gb",
        "nvidia_com_mig_2g_20gb.sock",
    )
    assert [device.id for device in slices.devices] == [
        one.id for one in topology.gpus[0].mig or ()
    ]


def test_more_than_one_is_refused_in_the_words_of_the_device_plugin() -> None:
    topology = cut_node(None, sharing=slicing(10, failRequestsGreaterThanOne=True))
    (gpus,) = offers(topology, "n")

    assert gpus.refusal(1) == ""
    assert gpus.refusal(2) == (
        'request for "nvidia.com/gpu": invalid request: maximum request size for shared resources '
        "is 1; found 2"
    )


PREFERRED: dict[str, tuple[list[str], list[str], int, list[str]]] = {
    "spread over GPUs": (["a::0", "a::1", "b::0", "b::1"], [], 2, ["a::0", "b::0"]),
    "the GPU with fewest shares taken": (["a::1", "b::0", "b::1"], [], 1, ["b::0"]),
    "what must be there counts": (["a::0", "a::1", "b::0", "b::1"], ["a::1"], 2, ["a::1", "b::0"]),
    "no more than there are": (["a::0"], [], 3, ["a::0"]),
}


@pytest.mark.parametrize(("free", "must", "size", "want"), PREFERRED.values(), ids=PREFERRED)
def test_which_shares_are_preferred(
    free: list[str], must: list[str], size: int, want: list[str]
) -> None:
    devices = [Device(f"{gpu}::{number}") for gpu in "ab" for number in range(2)]

    assert preferred(devices, free, must, size) == want

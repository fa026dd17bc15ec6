from itertools import count

import pytest

from windtunnel.devices import NodeTopology, OtherDevice, TopologyGpu
from windtunnel.gpu.device_plugin.offers import Device, DeviceList, counted_id, offers, socket_name

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

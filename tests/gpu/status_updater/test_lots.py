"""Tests of what there is to give on a node."""

from tests.devices.cut import cut_node, slicing

from windtunnel.gpu.status_updater.lots import lots_of


def test_whole_gpus_are_one_lot_each() -> None:
    topology = cut_node(None, None)

    assert [(lot.id, lot.place, lot.shared) for lot in lots_of(topology)] == [
        (gpu.id, (index, None), False) for index, gpu in enumerate(topology.gpus)
    ]


def test_shares_of_every_gpu_come_before_second_shares() -> None:
    lots = lots_of(cut_node(None, None, sharing=slicing(2)))

    assert [lot.place[0] for lot in lots] == [0, 1, 0, 1]
    assert {lot.memory_mib for lot in lots} == {40960}


def test_slices_are_lots_of_their_own_resource_and_memory() -> None:
    lots = lots_of(cut_node(None, {"3g.40gb": 1, "1g.10gb": 1}))

    assert [(lot.resource, lot.place, lot.memory_mib) for lot in lots] == [
        ("nvidia.com/gpu", (0, None), 81920),
        ("nvidia.com/mig-1g.10gb", (1, 1), 9728),
        ("nvidia.com/mig-3g.40gb", (1, 0), 40192),
    ]


def test_where_nobody_can_say_gpus_are_whole() -> None:
    lots = lots_of(cut_node({"3g.40gb": 1}, None, strategy="single"))

    assert [lot.place for lot in lots] == [(0, None), (1, None)]

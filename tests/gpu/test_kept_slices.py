"""Tests of slices that are kept as somebody says that they are due."""

from __future__ import annotations

from tests.world import World

from windtunnel.gpu.kept_slices import KeptSlices
from windtunnel.machinery.tree import Key, Tree

SLICES = "resourceslices.resource.k8s.io"


def spec(node: str, device: str = "d") -> Tree:
    pool = {"name": node, "generation": 0, "resourceSliceCount": 1}
    return {"driver": "d.example", "nodeName": node, "pool": pool, "devices": [{"name": device}]}


class Kept(World):
    """A cluster with slices that are kept as a table says."""

    def __init__(self, **due: list[Tree]) -> None:
        super().__init__()
        self.due = due
        self.slices = KeptSlices(
            self.client,
            self.loop,
            name="keeper",
            driver="d.example",
            noun="part",
            due=lambda node: self.due.get(node, []),
        )

    def begin(self) -> None:
        """Start, and tell of everything."""
        self.slices.start()
        for node in self.due:
            self.slices.visit(node)
        self.run(0.1)
        self.slices.all_told()
        self.run(0.5)


def test_each_slice_that_is_due_is_there_and_those_after_the_first_have_numbers() -> None:
    world = Kept(n=[spec("n", "a"), spec("n", "b")], empty=[])

    world.begin()

    assert world.names(SLICES, "") == ["kwok-n-part", "kwok-n-part-1"]
    assert world.get(SLICES, "kwok-n-part-1", "")["spec"]["devices"] == [{"name": "b"}]


def test_nothing_is_written_before_everything_is_told() -> None:
    world = Kept(n=[spec("n")])

    world.slices.start()
    world.slices.visit("n")
    world.run(1)

    assert world.names(SLICES, "") == []


def test_a_slice_that_is_deleted_or_edited_comes_back_at_once() -> None:
    world = Kept(n=[spec("n")])
    world.begin()
    key = Key("", "kwok-n-part")
    want = world.get(SLICES, key.name, "")["spec"]

    world.client.delete(SLICES, key)
    world.run(0.5)
    assert world.get(SLICES, key.name, "")["spec"] == want

    world.client.patch(SLICES, key, {"spec": {"devices": []}})
    world.run(0.5)
    assert world.get(SLICES, key.name, "")["spec"] == want


def test_a_slice_that_is_due_no_more_goes() -> None:
    world = Kept(n=[spec("n", "a"), spec("n", "b")])
    world.begin()

    world.due["n"].pop()
    world.slices.visit("n")
    world.run(0.5)

    assert world.names(SLICES, "") == ["kwok-n-part"]


def test_one_of_a_node_that_went_while_nobody_looked_goes_at_the_start_but_no_stranger() -> None:
    world = Kept()
    for name in ("kwok-gone-part", "gone-d.example-x2x4z"):
        world.create(SLICES, name, "", spec=spec("gone"))

    world.begin()

    assert world.names(SLICES, "") == ["gone-d.example-x2x4z"]

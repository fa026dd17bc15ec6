"""What several resources agree on, under each policy."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.nodes.kubelet.devices.alignment import Alignment, Opinion, align
from windtunnel.nodes.kubelet.devices.hints import Hint
from windtunnel.nodes.kubelet.settings import TopologyPolicy

BOTH = 0b11
LOW, HIGH, WIDE = Hint(0b01, True), Hint(0b10, True), Hint(0b11, False)

CASES: dict[str, tuple[list[Opinion], dict[TopologyPolicy, Alignment]]] = {
    "nobody minds": (
        [None],
        {
            "none": Alignment(None, True),
            "best-effort": Alignment(0b11, True),
            "restricted": Alignment(0b11, True),
            "single-numa-node": Alignment(None, True),
        },
    ),
    "the lowest of equals": (
        [[HIGH, LOW, WIDE]],
        {
            "best-effort": Alignment(0b01, True),
            "restricted": Alignment(0b01, True),
            "single-numa-node": Alignment(0b01, True),
        },
    ),
    "it cannot be": (
        [[]],
        {
            "best-effort": Alignment(0b11, True),
            "restricted": Alignment(0b11, False),
            "single-numa-node": Alignment(None, False),
        },
    ),
    "spread, though one node could do": (
        [[WIDE]],
        {
            "best-effort": Alignment(0b11, True),
            "restricted": Alignment(0b11, False),
            "single-numa-node": Alignment(None, False),
        },
    ),
    "spread, since it must be": (
        [[Hint(0b11, True)]],
        {"restricted": Alignment(0b11, True), "single-numa-node": Alignment(None, False)},
    ),
    "two that contradict each other": (
        [[LOW], [HIGH]],
        {"best-effort": Alignment(0b11, True), "restricted": Alignment(0b11, False)},
    ),
    "two that meet": (
        [[LOW, WIDE], [LOW, HIGH, WIDE]],
        {"restricted": Alignment(0b01, True), "single-numa-node": Alignment(0b01, True)},
    ),
}


@pytest.mark.parametrize(("opinions", "wanted"), CASES.values(), ids=CASES)
def test_policies(opinions: list[Opinion], wanted: dict[TopologyPolicy, Alignment]) -> None:
    assert {policy: align(policy, opinions, BOTH) for policy in wanted} == wanted


hints = st.builds(Hint, st.none() | st.integers(1, 7), st.booleans())
opinions = st.lists(st.none() | st.lists(hints, max_size=4), max_size=3)


@given(opinions)
def test_folding_finds_what_a_product_finds(given_: list[Opinion]) -> None:
    lists = [[Hint(None, True)] if one is None else (one or [Hint(None, False)]) for one in given_]
    admitted = False
    for combination in product(*lists):
        mask = 0b111
        named = [hint.mask for hint in combination if hint.mask is not None]
        for one in named:
            mask &= one
        if mask and all(hint.preferred for hint in combination) and len(set(named)) <= 1:
            admitted = True

    assert align("restricted", given_, 0b111).admitted == admitted
    assert align("best-effort", given_, 0b111).admitted


@given(opinions)
def test_the_outcome_lies_within_the_machine_and_does_not_hang_on_the_order(
    given_: list[Opinion],
) -> None:
    found = align("best-effort", given_, 0b111)

    assert found.mask is not None
    assert 0 < found.mask <= 0b111
    assert align("best-effort", list(reversed(given_)), 0b111) == found

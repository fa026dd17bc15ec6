"""Tests of GPUs on NUMA zones."""

import pytest

from windtunnel.devices import Numa, split_gpus

SPLITS = {
    "even": (Numa(zones=2), 8, (4, 4)),
    "the remainder goes to the first zones": (Numa(zones=3), 8, (3, 3, 2)),
    "said zone by zone": (Numa(zones=2, gpus_per_zone=(6, 2)), 8, (6, 2)),
    "no zones": (Numa(), 8, ()),
}


@pytest.mark.parametrize(("numa", "count", "want"), SPLITS.values(), ids=SPLITS)
def test_gpus_are_split(numa: Numa, count: int, want: tuple[int, ...]) -> None:
    assert split_gpus(numa, count) == want


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((8,), "gpusPerZone has 1 entries but zones is 2"),
        ((5, 2), "gpusPerZone sums to 7 but the pool has 8 GPUs"),
    ],
)
def test_a_list_that_contradicts_is_refused(given: tuple[int, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        split_gpus(Numa(zones=2, gpus_per_zone=given), 8)

from __future__ import annotations

import pytest
from tests.controllers.job.test_plan import NOW, job, pod

from windtunnel.controllers.job.creations import Creation, creations, victims, wanted_pods
from windtunnel.controllers.job.tally import Tally
from windtunnel.controllers.pods import AT_ONCE

WANTED = [
    ({"parallelism": 3, "completions": 5}, 3),
    ({"parallelism": 3, "completions": 2}, 1),
    ({"parallelism": 3, "completions": 1}, 0),
]


@pytest.mark.parametrize(("spec", "want"), WANTED)
def test_no_more_pods_are_wanted_than_completions_are_missing(
    spec: dict[str, int], want: int
) -> None:
    tally = Tally(job(None, **spec), [pod("done", "Succeeded")], frozenset(), NOW)

    assert wanted_pods(tally, active=0) == want


def test_the_lowest_free_indexes_are_made_first() -> None:
    one = job(None, parallelism=3, completions=5, completionMode="Indexed")
    tally = Tally(one, [pod("a", index=1)], frozenset(), NOW)

    assert creations(tally, 2) == ([Creation(0), Creation(2)], 0.0)


@pytest.mark.parametrize("mode", ["Indexed", "NonIndexed"])
def test_no_more_pods_are_worked_out_than_anybody_makes_at_once(mode: str) -> None:
    most = 2**31 - 1
    one = job(None, parallelism=most, completions=most, completionMode=mode)

    found, wait = creations(Tally(one, [], frozenset(), NOW), most)
    assert (len(found), wait) == (AT_ONCE + 1, 0.0)


def test_a_second_pod_of_an_index_goes_in_any_case() -> None:
    one = job(None, parallelism=3, completions=3, completionMode="Indexed")
    pods = [pod("a", index=1), pod("b", index=1)]
    tally = Tally(one, pods, frozenset(), NOW)

    assert len(victims(tally, 0)) == 1

from __future__ import annotations

import pytest
from tests.kinds.replay import answers, judge

from windtunnel.kinds import Catalogue, builtin_kinds
from windtunnel.machinery.tree import Tree


@pytest.mark.parametrize("case", answers("limitrange"))
def test_requests_are_answered_as_the_real_server_answered_them(case: Tree) -> None:
    judge(case)


RATIOS = {
    "no float holds the bound": ({"min": "1", "max": "1e400", "maxLimitRequestRatio": "2"}, "0.0"),
    "the least is nothing": ({"min": "0", "max": "1", "maxLimitRequestRatio": "2"}, ""),
    "the ratio overflows": ({"min": "1", "max": "9Ei", "maxLimitRequestRatio": "1e30"}, ""),
}


@pytest.mark.parametrize(("amounts", "bound"), RATIOS.values(), ids=RATIOS)
def test_ratios_are_judged_in_64_bits(amounts: dict[str, str], bound: str) -> None:
    item = {part: {"cpu": amount} for part, amount in amounts.items()}
    kind = Catalogue(builtin_kinds()).by_resource("limitranges")
    found = kind.rules.validate_create({"spec": {"limits": [{"type": "Container", **item}]}})

    texts = [one.message for one in found if "max/min" in one.message]
    assert [f"ratio 2 is greater than max/min = {bound}" in text for text in texts] == (
        [True] if bound else []
    )

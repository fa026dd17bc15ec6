"""Taints: off, or less welcome."""

from __future__ import annotations

import pytest
from tests.build import fleet, node, pod
from tests.placement.rules.judging import comparison, relieved, verdict

from windtunnel.placement import What
from windtunnel.placement.rules.taint_toleration import TaintToleration

REASON = "node(s) had untolerated taint(s)"
HARD = [{"key": "k", "value": "v", "effect": "NoSchedule"}]
SOFT = [{"key": "s", "effect": "PreferNoSchedule"}]
ALL = [{"operator": "Exists"}]


def test_hard_taints_refuse_for_good_and_soft_ones_do_not() -> None:
    made = fleet(node("a", taints=HARD), node("b", taints=SOFT), node("c"))

    assert verdict(TaintToleration(), pod(), made) == (
        [False, True, True], [REASON], [True, False, False],
    )  # fmt: skip
    assert verdict(TaintToleration(), pod(tolerations=ALL), made)[0] == [True, True, True]


def test_fewer_soft_taints_are_better() -> None:
    two = [*SOFT, {"key": "t", "effect": "PreferNoSchedule"}]
    made = fleet(node("a", taints=two), node("b", taints=SOFT), node("c"))

    assert comparison(TaintToleration(), pod(), made) == [0, 50, 100]


def test_tolerations_of_hard_effects_do_not_make_soft_taints_welcome() -> None:
    made = fleet(node("a", taints=SOFT), node("b"))
    hard_only = [{"operator": "Exists", "effect": "NoSchedule"}]

    assert comparison(TaintToleration(), pod(tolerations=hard_only), made) == [0, 100]


def test_without_soft_taints_all_are_equally_welcome() -> None:
    rule = TaintToleration()

    assert rule.same(pod(), fleet(node("a", taints=HARD)).view()) == 100
    assert rule.same(pod(), fleet(node("a", taints=SOFT)).view()) is None


OPEN, SHUT = node(), node(taints=HARD)
NEWS = {
    "the last taint is gone": (What.NODE_TAINTS, {"node_before": SHUT, "node": OPEN}, True),
    "it was open before": (What.NODE_TAINTS, {"node_before": OPEN, "node": OPEN}, False),
    "still tainted": (What.NODE_TAINTS, {"node_before": SHUT, "node": SHUT}, False),
    "a new open node": (What.NODE_ADDED, {"node": OPEN}, True),
    "own tolerations": (What.OWN_TOLERATIONS, {}, True),
    "a pod left": (What.POD_GONE, {}, False),
}


@pytest.mark.parametrize(("what", "news", "want"), NEWS.values(), ids=NEWS)
def test_relieved(what: What, news: dict[str, object], want: bool) -> None:
    assert relieved(TaintToleration(), pod(), fleet(node()), what, **news) is want

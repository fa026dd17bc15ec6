"""Device claims keep their place in scores."""

from __future__ import annotations

from tests.build import fleet, node, pod
from tests.placement.rules.judging import comparison, relieved, skips, verdict

from windtunnel.placement import What
from windtunnel.placement.rules.dynamic_resources import DynamicResources


def test_every_pod_passes_and_scores_nothing() -> None:
    made, rule = fleet(node()), DynamicResources()

    assert skips(rule, pod(), made)
    assert verdict(rule, pod(), made) == ([True], [], [False])
    assert rule.same(pod(), made.view()) == 0
    assert comparison(rule, pod(), made) == [0]
    assert not relieved(rule, pod(), made, What.NODE_ADDED, node=node())

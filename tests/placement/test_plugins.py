"""The table of plugins: whoever judges nodes has a rule, or says it has none."""

from __future__ import annotations

import pytest

from windtunnel.placement import PLUGINS, POINTS, make_rules
from windtunnel.placement.rules.resource_fit import ResourceFit

NOT_JUDGED = {"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"}


@pytest.mark.parametrize("name", PLUGINS)
def test_a_plugin_that_judges_nodes_makes_a_rule_of_its_name(name: str) -> None:
    row = PLUGINS[name]

    assert row.points <= POINTS
    if not row.points & {"filter", "score"} or name in NOT_JUDGED:
        assert row.make is None
        return
    assert row.make is not None
    rule = row.make(row.arguments() if row.arguments else None)
    assert getattr(rule, "name") == name  # noqa: B009
    assert hasattr(rule, "filter") == ("filter" in row.points)
    assert (hasattr(rule, "rate") or hasattr(rule, "compare")) == ("score" in row.points)


def test_the_default_rules_stand_in_the_order_of_the_table() -> None:
    rules = make_rules()

    names = [one.name for one in rules.filters]
    assert names == [name for name in PLUGINS if name in names]
    assert {one.name: weight for one, weight in (*rules.row_scores, *rules.set_scores)} == {
        name: row.weight for name, row in PLUGINS.items() if row.weight
    }


def test_chosen_plugins_keep_their_order_and_those_without_a_rule_drop_out() -> None:
    rules = make_rules(["NodePorts", "VolumeZone", "NodeName"], [("ImageLocality", 4)])

    assert [one.name for one in rules.filters] == ["NodePorts", "NodeName"]
    assert [(one.name, weight) for one, weight in rules.row_scores] == [("ImageLocality", 4)]
    assert rules.set_scores == ()


def test_a_rule_that_filters_and_scores_is_one_value() -> None:
    rules = make_rules(["NodeResourcesFit"], [("NodeResourcesFit", 1)])

    assert rules.filters == (ResourceFit(),)
    assert rules.row_scores[0][0] is rules.filters[0]

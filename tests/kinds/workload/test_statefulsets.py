from __future__ import annotations

import pytest
from tests.kinds.answers import answers, play

from windtunnel.kinds.workload.statefulsets import RULES
from windtunnel.machinery.tree import Tree


@pytest.mark.parametrize("case", answers("statefulsets"))
def test_the_rules_say_what_the_real_server_says(case: Tree) -> None:
    play(case)


def test_how_many_may_be_away_is_behind_a_gate() -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}}
    tree: Tree = {"spec": {"updateStrategy": strategy, "template": {"spec": {"containers": []}}}}

    assert RULES.default is not None
    RULES.default(tree)

    assert tree["spec"]["updateStrategy"]["rollingUpdate"] == {"partition": 0}

from __future__ import annotations

import pytest
from tests.kinds.answers import answers, play

from windtunnel.machinery.tree import Tree


@pytest.mark.parametrize("case", answers("poddisruptionbudgets"))
def test_the_rules_say_what_the_real_server_says(case: Tree) -> None:
    play(case)

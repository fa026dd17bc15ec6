from __future__ import annotations

import pytest
from tests.kinds.replay import answers, judge

from windtunnel.machinery.tree import Tree


@pytest.mark.parametrize("case", answers("service"))
def test_requests_are_answered_as_the_real_server_answered_them(case: Tree) -> None:
    judge(case)

import msgspec
import pytest

from windtunnel.controllers.budget.status import Expected, expect
from windtunnel.controllers.budget.views import BudgetSpec
from windtunnel.machinery.tree import Tree

EXPECTATIONS: dict[str, tuple[Tree, Expected]] = {
    "a number that must stay": ({"minAvailable": 2}, Expected(4, 2)),
    "a share that must stay": ({"minAvailable": "50%"}, Expected(5, 3)),
    "a number that may go": ({"maxUnavailable": 1}, Expected(5, 4)),
    "a share that may go is rounded up": ({"maxUnavailable": "30%"}, Expected(5, 3)),
    "more than all may go": ({"maxUnavailable": 9}, Expected(5, 0)),
}


@pytest.mark.parametrize(("spec", "want"), EXPECTATIONS.values(), ids=EXPECTATIONS.keys())
def test_what_a_budget_expects(spec: Tree, want: Expected) -> None:
    assert expect(msgspec.convert(spec, BudgetSpec), matching=4, wanted=5) == want

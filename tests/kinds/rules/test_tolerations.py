from typing import NamedTuple

import pytest

from windtunnel.kinds.rules.tolerations import tolerates


class Taint(NamedTuple):
    key: str = "gpu"
    value: str = "h100"
    effect: str = "NoSchedule"


class Toleration(NamedTuple):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""


CASES = {
    "Exists without a key covers all": (Toleration(operator="Exists"), True),
    "Exists covers its key": (Toleration("gpu", "Exists"), True),
    "another key does not": (Toleration("cpu", "Exists"), False),
    "no operator is Equal": (Toleration("gpu", "", "h100"), True),
    "another value does not": (Toleration("gpu", "Equal", "a100"), False),
    "another effect does not": (Toleration("gpu", "Exists", "", "NoExecute"), False),
    "an operator nobody knows does not": (Toleration("gpu", "Gt", "h100"), False),
}


@pytest.mark.parametrize(("toleration", "want"), CASES.values(), ids=CASES.keys())
def test_a_toleration_covers_a_taint(toleration: Toleration, want: bool) -> None:
    assert tolerates(toleration, Taint()) is want

"""Tolerations: which taints a pod may ignore."""

from __future__ import annotations

import pytest

from windtunnel.fleet.taints import HARD, Taint, Toleration, untolerated

TAINT = Taint("gpu", "NoSchedule", "yes")

CASES = {
    "equal key, value and effect": (Toleration("gpu", "Equal", "yes", "NoSchedule"), True),
    "no operator means equal": (Toleration("gpu", "", "yes"), True),
    "another value": (Toleration("gpu", "Equal", "no"), False),
    "Exists ignores the value": (Toleration("gpu", "Exists"), True),
    "no key and Exists tolerates everything": (Toleration("", "Exists"), True),
    "another effect": (Toleration("gpu", "Exists", "", "NoExecute"), False),
    "no effect means all effects": (Toleration("gpu", "Exists", "", ""), True),
    "operators behind a gate tolerate nothing": (Toleration("gpu", "Gt", "1"), False),
}


@pytest.mark.parametrize(("toleration", "want"), CASES.values(), ids=CASES)
def test_a_toleration(toleration: Toleration, want: bool) -> None:
    assert toleration.tolerates(TAINT) is want


def test_only_asked_effects_are_returned() -> None:
    soft = Taint("slow", "PreferNoSchedule")

    assert untolerated((TAINT, soft), (), HARD) == [TAINT]

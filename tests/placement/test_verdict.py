"""Verdicts with one reason."""

from __future__ import annotations

import numpy as np

from windtunnel.placement.verdict import refuse

SOME, NONE = np.array([True, False]), np.array([False, False])


def test_never_and_not_now_are_told_apart() -> None:
    assert refuse(SOME, "no", unresolvable=True).unresolvable.tolist() == [True, False]
    assert refuse(SOME, "no", unresolvable=False).unresolvable.tolist() == [False, False]


def test_a_reason_is_given_only_where_something_is_refused() -> None:
    assert [reason for reason, _ in refuse(SOME, "no", unresolvable=True).reasons] == ["no"]
    assert refuse(NONE, "no", unresolvable=True).reasons == ()

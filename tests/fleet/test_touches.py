"""Touches: what changed since a mark, and when everything must be looked at again."""

from __future__ import annotations

from windtunnel.fleet import touches
from windtunnel.fleet.touches import Touches


def test_rows_are_told_since_a_mark() -> None:
    made = Touches()
    made.add(3)
    mark = made.now()
    made.add(1)
    made.add(2)

    assert list(made.since(mark) or ()) == [1, 2]


def test_rows_whose_nodes_changed_are_told_apart() -> None:
    made = Touches()
    made.rewrite(3)
    mark = made.now()
    made.add(1)
    assert made.now().nodes == mark.nodes

    made.rewrite(2)

    assert list(made.since(mark) or ()) == [1, 2]
    assert list(made.rewritten_since(mark)) == [2]
    assert made.now().nodes != mark.nodes


def test_an_epoch_ends_when_rows_change_or_too_many_are_noted() -> None:
    made = Touches()
    mark = made.now()
    made.everything()
    assert made.since(mark) is None

    mark = made.now()
    for _ in range(touches._KEPT + 1):
        made.add(0)
    assert made.since(mark) is None


def test_only_what_nobody_saw_is_forgotten() -> None:
    made = Touches()
    mark = made.now()
    made.add(1)
    made.seen = True
    made.take_back(mark)
    assert list(made.since(mark) or ()) == [1]

    made.seen = False
    made.take_back(mark)
    assert list(made.since(mark) or ()) == []
